#include "env/tasks/ramp/rewards.h"

#include <cmath>

#include "tests/support/catch.h"

namespace pacml::env {
namespace {

// A job of 100 in sequence (102 when partitioned) that takes 40 when it is placed; a pool of
// sequential times 50 to 250.
struct Case {
  explicit Case(BlockCause cause) {
    job.sequential_time = 100;
    decision.cause = cause;
    if (cause != BlockCause::kOpPartition && cause != BlockCause::kOpPlacement) {
      decision.mounted.emplace();
      decision.mounted->completion_time = 40;
      decision.mounted->sequential_time = 102;
    }
    ranges.sequential_time = {50, 250};
    ranges.op_throughput = {0, 5};
    const auto set = [this](Info i, double v) {
      stats.throughput[static_cast<std::size_t>(i)] = v;
    };
    set(Info::kCompute, 8);
    set(Info::kCluster, 99);
    set(Info::kDemandTotal, 33);
  }
  [[nodiscard]] double of(const RewardConfig& config) const {
    return reward(config, {job, decision, stats, ranges, 4, 7.5, 2});
  }
  Job job;
  JobOutcome decision;
  ClusterStepStats stats;
  PoolRanges ranges;
};

const Case kPlaced(BlockCause::kNone);
const Case kRefused(BlockCause::kOpPartition);

double published_log(double v) { return std::log(1 + v) / std::log(10.0); }

TEST_CASE("job_acceptance rewards what was placed, whatever blocked the rest", "[rewards]") {
  const RewardConfig c = {.kind = RewardKind::kJobAcceptance};
  CHECK(kPlaced.of(c) == 1);
  for (const auto cause : {BlockCause::kOpPartition, BlockCause::kOpPlacement,
                           BlockCause::kCompletionTime, BlockCause::kSimulationEnded}) {
    CHECK(Case(cause).of(c) == -1);
  }
  const RewardConfig other = {
      .kind = RewardKind::kJobAcceptance, .success_reward = 3, .fail_reward = -0.5};
  CHECK(kPlaced.of(other) == 3);
  CHECK(kRefused.of(other) == -0.5);
}

TEST_CASE("lookahead_job_completion_time costs the time, or the sequential one", "[rewards]") {
  RewardConfig c = {.kind = RewardKind::kLookaheadJct};
  CHECK(kPlaced.of(c) == -40);
  CHECK(kRefused.of(c) == -100);
  CHECK(Case(BlockCause::kCompletionTime).of(c) == -100);  // mounted for a moment, but blocked
  c.fail_reward_factor = 2;
  CHECK(kPlaced.of(c) == -40);
  CHECK(kRefused.of(c) == -200);
  c.sign = 0.5;
  CHECK(kPlaced.of(c) == 20);
}

TEST_CASE("the completion time is normalised by the partitioned or the original job", "[rewards]") {
  RewardConfig c = {.kind = RewardKind::kLookaheadJct,
                    .fail_reward_factor = 2,
                    .normaliser = RewardNormaliser::kSequentialTime};
  CHECK(kPlaced.of(c) == -40.0 / 102);
  CHECK(kRefused.of(c) == -2);
  c.normaliser = RewardNormaliser::kSequentialTimeTimesFactor;
  CHECK(kPlaced.of(c) == -40.0 / 204);
  CHECK(kRefused.of(c) == -1);
}

TEST_CASE("completion times can be inverted and taken to the logarithm", "[rewards]") {
  RewardConfig c = {.kind = RewardKind::kLookaheadJct, .inverse = true};
  CHECK(kPlaced.of(c) == -1.0 / 40);
  c.inverse = false;
  c.transform_with_log = true;
  CHECK(kPlaced.of(c) == -published_log(40));
  c.sign = 1;
  CHECK(kPlaced.of(c) == published_log(40));
}

TEST_CASE("a blocked job that costs nothing stays at nothing", "[rewards]") {
  const RewardConfig c = {.kind = RewardKind::kLookaheadJct,
                          .fail_reward_factor = 0,
                          .normaliser = RewardNormaliser::kSequentialTimeTimesFactor,
                          .inverse = true,
                          .transform_with_log = true};
  CHECK(kRefused.of(c) == 0);
}

TEST_CASE("multi_objective_jct_blocking ranks blocked jobs by their length", "[rewards]") {
  RewardConfig c = {.kind = RewardKind::kMultiObjectiveJctBlocking, .blocking_weight = 10};
  CHECK(kPlaced.of(c) == -40.0 / 102);
  CHECK(kRefused.of(c) == -10 * (0.25 + 1));
  c.inverse = true;
  CHECK(kPlaced.of(c) == Approx(-102.0 / 40));
  Case uniform = kRefused;
  uniform.ranges.sequential_time = {100, 100};
  CHECK(std::isnan(uniform.of(c)));  // as the published formula divides
}

TEST_CASE("throughput rewards are those of the decision's cluster step", "[rewards]") {
  const auto kind = [](RewardKind k) { return RewardConfig{.kind = k}; };
  CHECK(kPlaced.of(kind(RewardKind::kMeanComputeThroughput)) == 8);
  CHECK(kPlaced.of(kind(RewardKind::kMeanClusterThroughput)) == 99);
  CHECK(kPlaced.of(kind(RewardKind::kMeanDemandTotalThroughput)) == 33);
  CHECK(kRefused.of(kind(RewardKind::kMeanDemandTotalThroughput)) == 33);
  RewardConfig c = kind(RewardKind::kMeanComputeThroughput);
  c.transform_with_log = true;
  CHECK(kPlaced.of(c) == published_log(8));
  c.sign = -1;
  CHECK(kPlaced.of(c) == -published_log(8));
}

TEST_CASE("throughputs are normalised by the workers, and by the network where it counts",
          "[rewards]") {
  const auto normalised = [](RewardKind k) { return RewardConfig{.kind = k, .normalise = true}; };
  // 4 servers at 5; 4 servers with 2 channels of 7.5.
  CHECK(kPlaced.of(normalised(RewardKind::kMeanComputeThroughput)) == 8.0 / 20);
  CHECK(kPlaced.of(normalised(RewardKind::kMeanClusterThroughput)) == 99.0 / (20 + 60));
  CHECK(kPlaced.of(normalised(RewardKind::kMeanDemandTotalThroughput)) == 33.0 / (20 + 60));
}

}  // namespace
}  // namespace pacml::env
