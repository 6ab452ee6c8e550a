#include "env/tasks/ramp/rewards.h"

#include <cmath>
#include <limits>
#include <utility>

#include "common/result.h"

namespace pacml::env {
namespace {

// Natural logarithms' ratio, as published: log10 would differ in the last bit.
double signed_log(double v) {
  return std::copysign(1.0, v) * (std::log(1 + std::abs(v)) / std::log(10.0));
}

double lookahead_time(const RewardConfig& c, const RewardInputs& in) {
  const bool placed = in.outcome.cause == BlockCause::kNone;
  const double sequential = placed ? in.outcome.mounted->sequential_time : in.job.sequential_time;
  double v =
      placed ? in.outcome.mounted->completion_time : in.job.sequential_time * c.fail_reward_factor;
  if (v != 0 && c.normaliser == RewardNormaliser::kSequentialTime) v /= sequential;
  if (v != 0 && c.normaliser == RewardNormaliser::kSequentialTimeTimesFactor) {
    v /= sequential * c.fail_reward_factor;
  }
  return v;
}

double multi_objective(const RewardConfig& c, const RewardInputs& in) {
  if (in.outcome.cause == BlockCause::kNone) {
    return in.outcome.mounted->completion_time / in.outcome.mounted->sequential_time;
  }
  const auto& range = in.ranges.sequential_time;
  if (range.max == range.min) return std::numeric_limits<double>::quiet_NaN();
  return c.blocking_weight * ((in.job.sequential_time - range.min) / (range.max - range.min) + 1);
}

double completion_reward(const RewardConfig& c, double v) {
  if (c.inverse && v != 0) v = 1 / v;
  v *= c.sign.value_or(-1);
  return c.transform_with_log ? signed_log(v) : v;
}

double throughput_reward(const RewardConfig& c, const RewardInputs& in, Info quantity,
                         bool counts_network) {
  double v = in.stats.throughput[static_cast<std::size_t>(quantity)];
  if (c.normalise) {
    double most = in.ranges.op_throughput.max * in.num_servers;
    if (counts_network) most += in.num_servers * in.channel_bandwidth * in.num_channels;
    v /= most;
  }
  if (v == 0) return v;
  v *= c.sign.value_or(1);
  return c.transform_with_log ? signed_log(v) : v;
}

}  // namespace

std::vector<std::string> validate(const RewardConfig& c) {
  constexpr double kMost = 1e9;
  std::vector<std::string> problems;
  // Written so that NaN is a problem, too.
  for (const auto& [key, value] : {std::pair{"success_reward", c.success_reward},
                                   {"fail_reward", c.fail_reward},
                                   {"blocking_weight", c.blocking_weight},
                                   {"sign", c.sign.value_or(1)}}) {
    if (!(std::abs(value) <= kMost)) {
      problems.push_back(std::string(key) + ": must be from -1e9 to 1e9");
    }
  }
  if (!(c.fail_reward_factor >= 0 && c.fail_reward_factor <= kMost)) {
    problems.emplace_back("fail_reward_factor: must be from 0 to 1e9");
  } else if (c.normaliser == RewardNormaliser::kSequentialTimeTimesFactor &&
             c.fail_reward_factor < 1e-9) {
    problems.emplace_back("fail_reward_factor: must be at least 1e-9 where it is divided by");
  }
  return problems;
}

double reward(const RewardConfig& c, const RewardInputs& in) {
  switch (c.kind) {
    case RewardKind::kJobAcceptance:
      return acceptance_reward(c, in.outcome.cause);
    case RewardKind::kLookaheadJct:
      return completion_reward(c, lookahead_time(c, in));
    case RewardKind::kMultiObjectiveJctBlocking:
      return completion_reward(c, multi_objective(c, in));
    case RewardKind::kMeanComputeThroughput:
      return throughput_reward(c, in, Info::kCompute, false);
    case RewardKind::kMeanClusterThroughput:
      return throughput_reward(c, in, Info::kCluster, true);
    case RewardKind::kMeanDemandTotalThroughput:
      return throughput_reward(c, in, Info::kDemandTotal, true);
  }
  return 0;
}

double finite_reward(const RewardConfig& c, const RewardInputs& in, const std::string& model) {
  const double value = reward(c, in);
  if (std::isfinite(static_cast<float>(value))) return value;
  throw UserError("env.reward: " + std::string(pacml::name_of(c.kind)) + " gives a job of model " +
                  model + " a reward that is not finite");
}

}  // namespace pacml::env
