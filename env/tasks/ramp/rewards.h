#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "env/ramp/cluster.h"
#include "env/tasks/ramp/pool_ranges.h"

namespace pacml::env {

enum class RewardKind {
  kJobAcceptance,              // success_reward or fail_reward
  kLookaheadJct,               // completion time found by the lookahead
  kMultiObjectiveJctBlocking,  // completion time over sequential time; blocked jobs by their size
  kMeanComputeThroughput,      // of the decision's cluster step
  kMeanClusterThroughput,
  kMeanDemandTotalThroughput,
};
constexpr auto enum_names(RewardKind) {
  return std::to_array<EnumName<RewardKind>>(
      {{"job_acceptance", RewardKind::kJobAcceptance},
       {"lookahead_job_completion_time", RewardKind::kLookaheadJct},
       {"multi_objective_jct_blocking", RewardKind::kMultiObjectiveJctBlocking},
       {"mean_compute_throughput", RewardKind::kMeanComputeThroughput},
       {"mean_cluster_throughput", RewardKind::kMeanClusterThroughput},
       {"mean_demand_total_throughput", RewardKind::kMeanDemandTotalThroughput}});
}

// What the completion time is divided by in lookahead_job_completion_time.
enum class RewardNormaliser {
  kNone,
  kSequentialTime,            // of the job
  kSequentialTimeTimesFactor  // ... times fail_reward_factor
};
constexpr auto enum_names(RewardNormaliser) {
  return std::to_array<EnumName<RewardNormaliser>>(
      {{"none", RewardNormaliser::kNone},
       {"job_sequential_completion_time", RewardNormaliser::kSequentialTime},
       {"job_sequential_completion_time_times_fail_reward_factor",
        RewardNormaliser::kSequentialTimeTimesFactor}});
}

// Each kind reads its own keys and ignores the others.
struct RewardConfig {
  RewardKind kind = RewardKind::kJobAcceptance;
  double success_reward = 1;      // job_acceptance
  double fail_reward = -1;        // job_acceptance
  double fail_reward_factor = 1;  // lookahead: a blocked job counts sequential time x this
  RewardNormaliser normaliser = RewardNormaliser::kNone;  // lookahead
  double blocking_weight = 1;                             // multi-objective
  bool normalise = false;           // throughputs: by the most that the cluster could do
  bool inverse = false;             // completion times: 1 / v
  std::optional<double> sign = {};  // absent: -1 for completion times, 1 for throughputs
  bool transform_with_log = false;  // sign(v) log10(1 + |v|)
  bool operator==(const RewardConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, RewardConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("kind", c.kind);
  v("success_reward", c.success_reward);
  v("fail_reward", c.fail_reward);
  v("fail_reward_factor", c.fail_reward_factor);
  v("normaliser", c.normaliser);
  v("blocking_weight", c.blocking_weight);
  v("normalise", c.normalise);
  v("inverse", c.inverse);
  v("sign", c.sign);
  v("transform_with_log", c.transform_with_log);
}

// Every problem, as a sentence that begins with the key.
[[nodiscard]] std::vector<std::string> validate(const RewardConfig& config);

// What a reward is computed from. `stats`: of the cluster step of the decision.
struct RewardInputs {
  const Job& job;
  const JobOutcome& outcome;
  const ClusterStepStats& stats;
  const PoolRanges& ranges;
  int num_servers = 0;
  double channel_bandwidth = 0;
  int num_channels = 1;
};

// The reward of one decision. Pure. NaN where the published formula divides by zero (a pool of one
// sequential time, multi-objective, blocked).
[[nodiscard]] double reward(const RewardConfig& config, const RewardInputs& in);
// Of kind kJobAcceptance.
[[nodiscard]] inline double acceptance_reward(const RewardConfig& config, BlockCause cause) {
  return cause == BlockCause::kNone ? config.success_reward : config.fail_reward;
}
// reward() of a job of that model. UserError where it is not finite, as a learner's float: nobody
// could learn from it, and peers would take the message for a damaged one.
[[nodiscard]] double finite_reward(const RewardConfig& config, const RewardInputs& in,
                                   const std::string& model);

// Whether it is about what the cluster does meanwhile (RewardInputs::stats), and not about what
// becomes of the job alone.
[[nodiscard]] constexpr bool depends_on_throughput(RewardKind kind) {
  return kind == RewardKind::kMeanComputeThroughput || kind == RewardKind::kMeanClusterThroughput ||
         kind == RewardKind::kMeanDemandTotalThroughput;
}

}  // namespace pacml::env
