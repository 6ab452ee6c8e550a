#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/experience/observation_spec.h"
#include "env/tasks/gpu_scheduling/config.h"

namespace pacml::env {

// The job scheduling task: one scheduler decides which of the jobs in line is next; where it runs
// is given by a rule.
struct JobSchedulingConfig : GpuWorkloadConfig {
  QueueOrder line = QueueOrder::kFifo;  // what jobs are in line by
  int window = 64;                      // it is offered the first so many that could start now
  bool pass = true;                     // it may start none of them, as long as anything runs
  PlacementRule place = PlacementRule::kBestFit;
  CandidateRules candidates = {.spread = false};  // among which the rule chooses
  SchedulingReward reward = SchedulingReward::kActiveTime;
  bool operator==(const JobSchedulingConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, JobSchedulingConfig>
void visit_fields(Config& c, Visitor&& v) {
  visit_workload(c, v);
  v("line", c.line);
  v("window", c.window);
  v("pass", c.pass);
  v("place", c.place);
  v("candidates", c.candidates);
  v("reward", c.reward);
}
[[nodiscard]] std::vector<std::string> validate(const JobSchedulingConfig& c);

// What a scheduler of several would be offered: one place for each job, and nobody to hand it to.
[[nodiscard]] SchedulingRules scheduling_rules(const JobSchedulingConfig& c);
// Pre: validate() finds no problem.
[[nodiscard]] ObservationSpec observation_spec(const JobSchedulingConfig& c);

}  // namespace pacml::env
