#include "env/tasks/job_placing/config.h"

namespace pacml::env {
namespace {

constexpr int kMostOffers = 4000;  // that a decision shows

}  // namespace

std::vector<std::string> validate(const JobPlacingConfig& c) {
  std::vector<std::string> problems = one_scheduler_problems(c, c.place);
  if (c.window < 1 || c.sizes < 1 || c.window > kMostOffers || c.sizes > kMostOffers / c.window) {
    problems.emplace_back("window: must be at least 1, as sizes, and both together at most 4000");
  }
  if (c.reward == SchedulingReward::kDelay) {
    problems.emplace_back(
        "reward: delay is of jobs that get what they ask for; active_time or progress");
  }
  const bool graphs = c.speeds_from == SpeedSource::kGraphs;
  if (graphs && !c.speeds.empty()) {
    problems.emplace_back("speeds: a table is not read where speeds_from is graphs");
  }
  if (!graphs && !c.profiles.empty()) {
    problems.emplace_back("profiles: job graphs are read where speeds_from is graphs");
  }
  return problems;
}

SchedulingRules scheduling_rules(const JobPlacingConfig& c) {
  return {.line = c.line,
          .offers = {.jobs = c.window,
                     .places = 1,
                     .forwards = 0,
                     .pass = c.pass,
                     .sizes = c.sizes,
                     .rules = c.candidates},
          .place = c.place,
          .reward = c.reward,
          .own_share = 1};
}

ObservationSpec observation_spec(const JobPlacingConfig& c) {
  return scheduling_observation(c.cluster, scheduling_rules(c).offers);
}

}  // namespace pacml::env
