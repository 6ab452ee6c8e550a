// The task of job scheduling comes to the schedules that an independent implementation recorded:
// its rules by themselves, and whatever was decided, taken decision by decision.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/trace/gpu_cluster_json.h"
#include "env/gpu_cluster/gpu_jobs_json.h"
#include "env/tasks/gpu_scheduling/environment.h"
#include "env/tasks/job_scheduling/task.h"
#include "env/text/json_member.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/recordings.h"

namespace pacml {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kOwn = "tests/golden/gpu_cluster";
constexpr int kMostJobs = 100;  // of a recording

// What a recording is of, as the task has it.
struct Recorded {
  json document;
  env::GpuRulesConfig rules = {};
  std::shared_ptr<const env::JobSchedulingTask> task = nullptr;
  env::GpuJobSpecs jobs = nullptr;
};

// Nothing: it is of several schedulers, of jobs that are pre-empted, or of rounds in lock-step.
std::optional<Recorded> read(const fs::path& file) {
  Recorded out{.document = testing::read_json(file)};
  const apps::RecordedGpuCluster recorded = apps::recorded_gpu_cluster(out.document.at("config"));
  out.rules = recorded.rules;
  const env::GpuClusterConfig& cluster = recorded.model->config();
  if (cluster.partitions != 1 || recorded.lockstep || out.rules.preempt) return std::nullopt;
  env::JobSchedulingConfig config;
  config.cluster = cluster;
  config.speeds = file.string();
  config.jobs.largest_gpus = 1;  // none are drawn
  config.window = kMostJobs;
  config.place = out.rules.place == env::PlacementRule::kRandom ? env::PlacementRule::kFirstFit
                                                                : out.rules.place;
  config.candidates = out.rules.candidates;
  out.task = std::make_shared<const env::JobSchedulingTask>(config);
  out.jobs = std::make_shared<const std::vector<env::GpuJobSpec>>(
      env::recorded_gpu_jobs(env::JsonMember(out.document.at("jobs"), "jobs")));
  REQUIRE(out.jobs->size() <= kMostJobs);
  return out;
}

// The task's name for what a recording was decided by.
std::optional<std::string> name_of(const env::GpuRulesConfig& rules) {
  using enum env::ScheduleOrder;
  if (rules.place == env::PlacementRule::kRandom || rules.window != 0 ||
      rules.max_cost != env::GpuRulesConfig{}.max_cost) {
    return std::nullopt;
  }
  if (rules.order == kFifo) return rules.strict ? "fifo" : "fifo_backfill";
  if (rules.order == kDrf) return "drf";
  if (rules.strict) return std::nullopt;
  if (rules.order == kSrtf) return "srtf";
  if (rules.order == kSrsf) return "srsf";
  return std::nullopt;
}

template <class Decide>
void check_comes_to(const Recorded& recorded, Decide decide) {
  env::GpuSchedulingEnv env(recorded.task);
  env.reset(recorded.jobs);
  while (!env.step(decide(env)).final()) {
  }
  json finish = json::array();
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(recorded.jobs->size()); ++id) {
    const env::GpuJobProgress& progress = env.state().progress(id);
    finish.push_back({id, progress.start, progress.finish});
  }
  CHECK(testing::difference(recorded.document.at("finish"), finish, "finish", {.share = 1e-9}) ==
        "");
}

TEST_CASE("orders of the job scheduling task come to recorded schedules", "[golden][gpu_cluster]") {
  std::vector<std::string> compared;
  for (const fs::path& file : testing::recordings_in(testing::source_path(kOwn))) {
    INFO(file.filename().string());
    const auto recorded = read(file);
    if (!recorded) continue;
    const auto name = name_of(recorded->rules);
    if (!name) continue;
    CAPTURE(*name);
    const auto agent = recorded->task->make_agent(*name);
    agent->reset(Seed{0});
    check_comes_to(*recorded, [&](const env::Environment& env) { return agent->act(env); });
    compared.push_back(*name);
  }
  CHECK(compared.size() >= 10);
  for (const char* name : {"fifo", "fifo_backfill", "drf", "srtf", "srsf"}) {
    CHECK(std::ranges::find(compared, name) != compared.end());
  }
}

TEST_CASE("recorded decisions taken in the job scheduling task come to what is recorded",
          "[golden][gpu_cluster]") {
  int compared = 0;
  for (const fs::path& file : testing::recordings_in(testing::source_path(kOwn))) {
    INFO(file.filename().string());
    const auto recorded = read(file);
    if (!recorded || recorded->rules.order == env::ScheduleOrder::kAgent) continue;
    const auto decisions = apps::recorded_gpu_decisions(recorded->document.at("decisions"));
    std::size_t next = 0;
    check_comes_to(*recorded, [&](const env::GpuSchedulingEnv& env) {
      const double now = env.state().now();
      const bool is_due = next < decisions.size() &&
                          std::abs(decisions[next].time_s - now) <= 1e-9 * std::max(1.0, now);
      if (is_due) {
        const env::GpuDecision& decision = decisions[next++];
        return env.action_for(decision.job, decision.gpus);
      }
      REQUIRE(env.offers()[0].kind == env::Offer::Kind::kPass);
      return 0;
    });
    CHECK(next == decisions.size());
    ++compared;
  }
  CHECK(compared >= 15);
}

}  // namespace
}  // namespace pacml
