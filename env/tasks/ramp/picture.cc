#include "env/tasks/ramp/picture.h"

#include <cstdio>
#include <utility>

namespace pacml::env {
namespace {

// Simulated time, to the digits that people compare.
std::string time_text(double time) {
  char text[32];
  std::snprintf(text, sizeof text, time < 100 ? "%.3g" : "%.0f", time);
  return text;
}

std::string share_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", share);
  return text;
}

const std::string& model_of(const RampEnvironment& environment, const Job& job) {
  return environment.task().graphs()[static_cast<std::size_t>(job.model)]->model();
}

PictureItem item_of(const RampEnvironment& environment, const MountedJob& job) {
  return {
      job.job.index,
      model_of(environment, job.job) + ", degree " + std::to_string(job.execution->job->degree()),
      job.started, job.started + job.completion_time};
}

std::vector<PictureFact> facts_of(const RampEnvironment& environment, const Job& job) {
  const JobGraph& graph = *environment.task().graphs()[static_cast<std::size_t>(job.model)];
  return {{"job", std::to_string(job.index)},
          {"model", graph.model()},
          {"operations", std::to_string(graph.num_ops())},
          {"time on one server", time_text(job.sequential_time), job.sequential_time},
          {"must be done in",
           time_text(job.max_acceptable_time) + " (" + share_text(job.fraction) + " of that)",
           job.max_acceptable_time}};
}

PictureOutcome outcome_of(const RampEnvironment& environment, const Job& job,
                          const JobOutcome& outcome) {
  PictureOutcome out;
  out.kept = outcome.cause == BlockCause::kNone;
  out.reason = describe(outcome);
  if (outcome.mounted) {
    out.item = item_of(environment, *outcome.mounted);
  } else {
    out.item = {job.index, model_of(environment, job), job.arrived, job.arrived};
  }
  if (!out.kept) out.item.ends = out.item.begins;
  return out;
}

}  // namespace

std::string describe(const JobOutcome& outcome) {
  const auto times = [&outcome] {
    return time_text(outcome.mounted->completion_time) + " of at most " +
           time_text(outcome.mounted->max_acceptable_time);
  };
  switch (outcome.cause) {
    case BlockCause::kNone:
      return "done in " + times();
    case BlockCause::kOpPartition:
      return "blocked: refused";
    case BlockCause::kOpPlacement:
      return "blocked: no block of servers is free";
    case BlockCause::kCompletionTime:
      return "blocked: too slow, " + times();
    case BlockCause::kSimulationEnded:
      return "blocked: the episode ended before it was done";
  }
  return "?";
}

Picture ramp_picture(const RampEnvironment& environment) {
  const Cluster& cluster = environment.cluster();
  const Topology& topology = cluster.memo().topology();
  Picture picture;
  picture.now = cluster.now();
  if (const auto& job = cluster.queued()) picture.facts = facts_of(environment, *job);
  PictureGrid grid{.title = "servers",
                   .shape = {topology.groups(), topology.racks(), topology.servers_per_rack()},
                   .of = {"group", "rack", "server"},
                   .items = std::vector<int>(static_cast<std::size_t>(topology.num_servers()), -1)};
  for (const MountedJob& job : cluster.running()) {
    for (int s = 0; s < topology.num_servers(); ++s) {
      if (!job.execution->servers.contains(static_cast<Server>(s))) continue;
      grid.items[static_cast<std::size_t>(s)] = static_cast<int>(picture.items.size());
    }
    picture.items.push_back(item_of(environment, job));
  }
  picture.grids.push_back(std::move(grid));
  if (environment.summary().decisions > 0) {
    picture.last = outcome_of(environment, environment.last_job(), environment.last_outcome());
  }
  return picture;
}

}  // namespace pacml::env
