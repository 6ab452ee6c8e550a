#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "common/config/fields.h"
#include "env/ramp/cluster_config.h"
#include "env/ramp/execution_memo.h"
#include "env/ramp/ramp_config.h"
#include "env/semantics.h"
#include "env/tasks/ramp/rewards.h"
#include "env/workload/workload_plan.h"

namespace pacml::env {

// How an episode that reaches max_simulation_time ends.
enum class TimeLimit {
  kTruncated,   // a limit of the simulation, not of the cluster: bootstrap
  kTerminated,  // the end of the world
};
constexpr auto enum_names(TimeLimit) {
  return std::to_array<EnumName<TimeLimit>>(
      {{"truncated", TimeLimit::kTruncated}, {"terminated", TimeLimit::kTerminated}});
}

// What all tasks on the RAMP cluster are told: the cluster, what arrives there, and how decisions
// are rewarded. Defaults: the paper's setting.
struct RampTaskConfig {
  std::string profiles;  // folder of <model>/graph.txt; empty: the built-in model zoo
  RampConfig ramp;
  ClusterConfig cluster;
  WorkloadConfig workload;
  TimeUnit time_unit = TimeUnit::kPaper;
  double op_quantum = 0.01;        // profile time; an op is not cut into shorter pieces than this
  int max_partitions_per_op = 16;  // largest degree that a job is cut at
  int max_partitions_in_observation =
      1;  // enlarges the published normalisation; see PoolRangesOptions
  Semantics semantics = Semantics::kPaper;
  std::map<std::string, bool> semantic_overrides;  // single switches of SemanticSwitches
  RewardConfig reward;
  TimeLimit time_limit = TimeLimit::kTruncated;
  // Decisions that show the servers also show what about the last so many jobs were like
  // (recent_arrivals.h); 0: nothing of that. 0..10000.
  int recent_arrivals = 0;
  // Where it names some, every episode is on a cluster of ramp.topology or of one of these, all
  // equally likely, with as many arrivals a server as ramp.topology has. Each once. A setting of
  // those tasks that can show more than one.
  std::vector<std::array<int, 3>> further_topologies;
  bool operator==(const RampTaskConfig&) const = default;
};

// For the visit_fields of configurations that build on it.
template <class Config, class Visitor>
void visit_ramp_fields(Config& c, Visitor&& v) {
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
  v("reward", c.reward);
  v("time_limit", c.time_limit);
  v("recent_arrivals", c.recent_arrivals);
}

template <class Visitor>
void visit_paths(RampTaskConfig& c, Visitor&& v) {
  v(c.workload.recorded.file);
}

// Jobs that an episode may be expected to have: a thousand times the published setting's. One takes
// seconds to simulate then, and its log hundreds of megabytes.
inline constexpr double kMostArrivals = 1e6;

// Adds what is wrong with how long an episode would last, of jobs of so many models. Those that a
// file has recorded are known when the task is made.
void check_episode(const RampTaskConfig& config, std::size_t num_models,
                   std::vector<std::string>& problems);

// Every problem of its own fields, as a sentence that begins with the key.
[[nodiscard]] std::vector<std::string> validate_ramp(const RampTaskConfig& config);

// Of every cluster that episodes are on: ramp.topology, and behind it the further ones.
[[nodiscard]] std::vector<std::array<int, 3>> topologies(const RampTaskConfig& config);
// One of them, with all else that ramp says.
[[nodiscard]] RampConfig ramp_of(const RampTaskConfig& config, const std::array<int, 3>& topology);
// Servers of one over those of ramp.topology: how many times as often jobs arrive there.
[[nodiscard]] double relative_size(const RampTaskConfig& config,
                                   const std::array<int, 3>& topology);

// The preset with the overrides applied. Pre: the overrides' names are known (validate).
[[nodiscard]] SemanticSwitches switches_of(const RampTaskConfig& config);

// What the memo of such a task depends on, on a cluster of that topology.
[[nodiscard]] ExecutionMemo::Setting memo_setting(const RampTaskConfig& config,
                                                  const std::array<int, 3>& topology);

}  // namespace pacml::env
