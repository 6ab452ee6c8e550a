#pragma once

#include <concepts>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/experience/observation_spec.h"
#include "env/cluster/cluster_config.h"
#include "env/cluster/ramp_config.h"
#include "env/semantics.h"
#include "env/tasks/rewards.h"
#include "env/workload/workload_plan.h"

namespace pacml::env {

enum class ObservationKind {
  kPaper,    // the published 17 graph features: how many servers are in use, but not which
  kCluster,  // each degree by the cluster that it would leave behind (cluster_observation.h)
};
constexpr auto enum_names(ObservationKind) {
  return std::to_array<EnumName<ObservationKind>>(
      {{"paper", ObservationKind::kPaper}, {"cluster", ObservationKind::kCluster}});
}

// How an episode that reaches max_simulation_time ends.
enum class TimeLimit {
  kTruncated,   // a limit of the simulation, not of the cluster: bootstrap
  kTerminated,  // the end of the world
};
constexpr auto enum_names(TimeLimit) {
  return std::to_array<EnumName<TimeLimit>>(
      {{"truncated", TimeLimit::kTruncated}, {"terminated", TimeLimit::kTerminated}});
}

// The job partitioning task (PAC-ML). Defaults: the paper's setting.
struct PartitioningConfig {
  std::string profiles;  // folder of <model>/graph.txt; empty: the built-in model zoo
  RampConfig ramp;
  ClusterConfig cluster;
  WorkloadConfig workload;
  TimeUnit time_unit = TimeUnit::kPaper;
  double op_quantum = 0.01;        // profile time; an op is not cut into shorter pieces than this
  int max_partitions_per_op = 16;  // largest degree that the agent may choose
  int max_partitions_in_observation =
      1;  // enlarges the published normalisation; see PoolRangesOptions
  Semantics semantics = Semantics::kPaper;
  std::map<std::string, bool> semantic_overrides;  // single switches of SemanticSwitches
  ObservationKind observation = ObservationKind::kPaper;
  RewardConfig reward;
  TimeLimit time_limit = TimeLimit::kTruncated;
  bool apply_action_mask = true;  // false: an invalid action counts as 0 instead of being an error
  bool operator==(const PartitioningConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, PartitioningConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("profiles", c.profiles);
  v("ramp", c.ramp);
  v("cluster", c.cluster);
  v("workload", c.workload);
  v("time_unit", c.time_unit);
  v("op_quantum", c.op_quantum);
  v("max_partitions_per_op", c.max_partitions_per_op);
  v("max_partitions_in_observation", c.max_partitions_in_observation);
  v("semantics", c.semantics);
  v("semantic_overrides", c.semantic_overrides);
  v("observation", c.observation);
  v("reward", c.reward);
  v("time_limit", c.time_limit);
  v("apply_action_mask", c.apply_action_mask);
}

[[nodiscard]] std::vector<std::string> validate(const PartitioningConfig& config);

// What a decision shows: the waiting job's graph, `observation`'s numbers, and the degrees, of
// which candidate 0 refuses the job. Pre: validate(config.ramp) holds.
[[nodiscard]] ObservationSpec observation_spec(const PartitioningConfig& config);

// The preset with the overrides applied. Pre: the overrides' names are known (validate).
[[nodiscard]] SemanticSwitches switches_of(const PartitioningConfig& config);

}  // namespace pacml::env
