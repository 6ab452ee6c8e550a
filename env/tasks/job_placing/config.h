#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/experience/observation_spec.h"
#include "env/tasks/gpu_scheduling/config.h"
#include "env/tasks/job_placing/graph_speeds.h"

namespace pacml::env {

// Where it is known from how fast jobs are.
enum class SpeedSource {
  kTables,  // measured, or made up
  kGraphs,  // job graphs
};
constexpr auto enum_names(SpeedSource /*unused*/) {
  return std::to_array<EnumName<SpeedSource>>(
      {{"tables", SpeedSource::kTables}, {"graphs", SpeedSource::kGraphs}});
}

// The job placing task: how many GPUs the next job gets. Jobs are elastic at their start, whatever
// they ask for; where their GPUs are is given by a rule.
struct JobPlacingConfig : GpuWorkloadConfig {
  SpeedSource speeds_from = SpeedSource::kTables;
  std::string profiles;           // folder of <model>/graph.txt; empty: the built-in model zoo
  GraphSpeedsConfig graphs = {};  // of which, and what they run on
  QueueOrder line = QueueOrder::kFifo;  // by which the next job is the next
  int window = 1;                       // the first so many are offered
  int sizes = 7;  // each on so many of the numbers of GPUs that it has a speed at, smallest first
  bool pass = true;  // it may wait for more GPUs than are idle, as long as anything runs
  PlacementRule place = PlacementRule::kFirstFit;
  CandidateRules candidates = {};  // among which the rule chooses
  SchedulingReward reward = SchedulingReward::kActiveTime;
  bool operator==(const JobPlacingConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, JobPlacingConfig>
void visit_fields(Config& c, Visitor&& v) {
  visit_workload(c, v);
  v("speeds_from", c.speeds_from);
  v("profiles", c.profiles);
  v("graphs", c.graphs);
  v("line", c.line);
  v("window", c.window);
  v("sizes", c.sizes);
  v("pass", c.pass);
  v("place", c.place);
  v("candidates", c.candidates);
  v("reward", c.reward);
}
[[nodiscard]] std::vector<std::string> validate(const JobPlacingConfig& c);

// What a scheduler of several would be offered: one place for each size of a job.
[[nodiscard]] SchedulingRules scheduling_rules(const JobPlacingConfig& c);
// Pre: validate() finds no problem.
[[nodiscard]] ObservationSpec observation_spec(const JobPlacingConfig& c);

}  // namespace pacml::env
