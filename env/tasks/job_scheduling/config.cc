#include "env/tasks/job_scheduling/config.h"

namespace pacml::env {
namespace {

constexpr int kMostJobs = 4000;  // that a decision shows

}  // namespace

std::vector<std::string> validate(const JobSchedulingConfig& c) {
  std::vector<std::string> problems = workload_problems(c);
  if (c.cluster.partitions != 1) {
    problems.emplace_back("cluster.partitions: this task has one scheduler, so that it must be 1");
  }
  if (c.window < 1 || c.window > kMostJobs) problems.emplace_back("window: must be in 1..4000");
  if (c.place == PlacementRule::kRandom) {
    problems.emplace_back(
        "place: an offer says where its job would run, so that it cannot be random");
  }
  return problems;
}

SchedulingRules scheduling_rules(const JobSchedulingConfig& c) {
  return {.line = c.line,
          .offers =
              {.jobs = c.window, .places = 1, .forwards = 0, .pass = c.pass, .rules = c.candidates},
          .place = c.place,
          .reward = c.reward,
          .own_share = 1};
}

ObservationSpec observation_spec(const JobSchedulingConfig& c) {
  return scheduling_observation(c.cluster, scheduling_rules(c).offers);
}

}  // namespace pacml::env
