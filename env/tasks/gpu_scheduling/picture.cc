#include "env/tasks/gpu_scheduling/picture.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "common/index.h"

namespace pacml::env {
namespace {

std::string label_of(const GpuClusterState& state, const std::vector<GpuJobSpec>& jobs,
                     std::int32_t job) {
  return "job " + std::to_string(state.jobs()[job].number) + ": " + jobs[at(job)].type + ", " +
         std::to_string(state.jobs()[job].gpus) + " GPUs";
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f s", seconds);
  return text;
}

PictureItem item_during(const GpuClusterState& state, const std::vector<GpuJobSpec>& jobs,
                        std::int32_t job, double begins, double ends) {
  return {state.jobs()[job].number, label_of(state, jobs, job), begins, ends};
}

PictureItem item_of(const GpuClusterState& state, const std::vector<GpuJobSpec>& jobs,
                    std::int32_t job) {
  const GpuJobProgress& progress = state.progress(job);
  const double left_s = progress.rate > 0 ? state.left(job) / progress.rate : 0;
  return item_during(state, jobs, job, progress.start, state.now() + left_s);
}

PictureGrid grid_of(const GpuTopology& t, const char* title) {
  const std::int32_t per_rack = t.config().servers_per_rack == 0
                                    ? t.num_servers()
                                    : std::min(t.config().servers_per_rack, t.num_servers());
  PictureGrid grid{.title = title,
                   .shape = {t.num_racks(), per_rack, t.per_server()},
                   .of = {"rack", "server", "GPU"},
                   .items = {}};
  // The last rack may have fewer servers.
  grid.items.assign(at(t.num_racks()) * at(per_rack) * at(t.per_server()), -2);
  std::fill_n(grid.items.begin(), t.num_gpus(), -1);
  return grid;
}

}  // namespace

Picture gpu_cluster_picture(const GpuClusterState& state, const std::vector<GpuJobSpec>& jobs) {
  const GpuTopology& t = state.topology();
  Picture picture;
  picture.now = state.now();
  std::int64_t gpus = 0;
  for (int p = 0; p < state.model().config().partitions; ++p) {
    for (const auto& waiting : state.waiting(p)) gpus += state.jobs()[waiting.job].gpus;
  }
  picture.facts = {{"jobs that wait", std::to_string(state.num_waiting())},
                   {"GPUs that they want", std::to_string(gpus)},
                   {"jobs that run", std::to_string(state.running().size())}};
  PictureGrid first = grid_of(t, "GPUs");
  PictureGrid second = grid_of(t, "GPUs, the second job");
  for (const std::int32_t job : state.running()) {
    for (const std::int32_t gpu : state.layout(job).gpus) {
      (state.resident(gpu, 0) == job ? first : second).items[at(gpu)] =
          static_cast<int>(picture.items.size());
    }
    picture.items.push_back(item_of(state, jobs, job));
  }
  picture.grids.push_back(std::move(first));
  if (state.model().config().share > 1) picture.grids.push_back(std::move(second));
  return picture;
}

PictureOutcome outcome_of_job(const GpuClusterState& state, const std::vector<GpuJobSpec>& jobs,
                              std::int32_t job, double time_s) {
  PictureOutcome outcome;
  outcome.kept = true;
  if (job < 0) {
    outcome.item = {-1, "passed", time_s, time_s};
    outcome.reason = "its jobs wait";
    return outcome;
  }
  const GpuJobProgress& progress = state.progress(job);
  switch (progress.status) {
    case GpuJobStatus::kFinished:
      outcome.item = item_during(state, jobs, job, progress.start, progress.finish);
      outcome.reason =
          "done " + seconds_text(progress.finish - jobs[at(job)].submit_s) + " after its arrival";
      break;
    case GpuJobStatus::kRunning:
      outcome.item = item_of(state, jobs, job);
      outcome.reason = "waited " + seconds_text(progress.start - jobs[at(job)].submit_s);
      break;
    default:
      outcome.item = item_during(state, jobs, job, time_s, time_s);
      outcome.reason = "handed on to scheduler " + std::to_string(progress.partition);
  }
  return outcome;
}

}  // namespace pacml::env
