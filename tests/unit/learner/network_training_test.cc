#include "learner/network_training.h"

#include <limits>
#include <vector>

#include "common/clock.h"
#include "common/heartbeat.h"
#include "tests/support/catch.h"
#include "tests/support/tabular_network.h"

namespace pacml::learner {
namespace {

OptimizerConfig unclipped() {
  OptimizerConfig config;
  config.gradient_clip = std::numeric_limits<double>::infinity();
  return config;
}

struct TrainedTable {
  model::TabularNetwork network{2, 1, 2};
  NetworkTraining training{network, unclipped(), 0.1, model::ValueHeads::kValue, true};

  Optimizer::Step step(float gradient) {
    return training.step(std::vector<float>(network.layout().total, gradient), 0.1);
  }
};

TEST_CASE("an update of several steps is made as a whole", "[unit][learner]") {
  TrainedTable table;
  table.training.begin_update();
  REQUIRE(table.step(1).applied);
  REQUIRE(table.step(2).applied);
  CHECK(table.training.end_update(true, 7) == Outcome::kApplied);
  CHECK(table.training.version() == PolicyVersion{1});
  CHECK(table.training.decisions() == 7);
  CHECK(table.network.parameters()[0] < 0);
}

TEST_CASE("each step of an update is a sign of life", "[unit][learner]") {
  const Heartbeat heart("learn");
  TrainedTable table;
  table.training.begin_update();
  const TimePoint before = steady().now();
  REQUIRE(table.step(1).applied);
  CHECK(longest_silence(before)->lasted == Duration{0});
}

TEST_CASE("an update that is not sound is undone, its first steps and its moments as well",
          "[unit][learner]") {
  TrainedTable table;
  const AlgorithmState before = table.training.save("table");
  table.training.begin_update();
  table.training.start_values(target_sums(std::vector<float>{3, 5}, std::vector<float>{1, 1}));
  REQUIRE(table.step(1).applied);
  CHECK(table.training.end_update(false, 7) == Outcome::kDiverged);
  CHECK(table.training.save("table") == before);
}

TEST_CASE("the average reward of an update that is not sound is forgotten", "[unit][learner]") {
  TrainedTable table;
  table.training.begin_update();
  table.training.take_in_rewards({.decisions = 10, .rewards = -5, .elapsed = 10});
  REQUIRE(table.training.end_update(true, 10) == Outcome::kApplied);
  const AlgorithmState before = table.training.save("table");
  table.training.begin_update();
  table.training.take_in_rewards({.decisions = 10, .rewards = 3e38, .elapsed = 10});
  CHECK(table.training.reward_rate().value() > 1e37);
  CHECK(table.training.end_update(false, 10) == Outcome::kDiverged);
  CHECK(table.training.save("table") == before);
  CHECK(table.training.reward_rate().value() == -0.5);
  // One that is no number is no sound update's.
  table.training.begin_update();
  table.training.take_in_rewards({10, std::numeric_limits<double>::infinity(), 10});
  CHECK(table.training.end_update(true, 10) == Outcome::kDiverged);
  CHECK(table.training.save("table") == before);
}

TEST_CASE("an update that never came to its end can be abandoned", "[unit][learner]") {
  TrainedTable table;
  const AlgorithmState before = table.training.save("table");
  table.training.begin_update();
  table.training.take_in_rewards({.decisions = 10, .rewards = -5, .elapsed = 10});
  table.training.start_values(target_sums(std::vector<float>{3, 5}, std::vector<float>{1, 1}));
  REQUIRE(table.step(1).applied);
  table.training.abandon_update();
  CHECK(table.training.save("table") == before);
  // One that came to its end is not.
  table.training.begin_update();
  REQUIRE(table.step(1).applied);
  REQUIRE(table.training.end_update(true, 7) == Outcome::kApplied);
  const AlgorithmState after = table.training.save("table");
  table.training.abandon_update();
  CHECK(table.training.save("table") == after);
}

TEST_CASE("an average reward is there where rewards are centred, and a state's must be a number",
          "[unit][learner]") {
  TrainedTable centred;
  centred.training.begin_update();
  centred.training.take_in_rewards({.decisions = 10, .rewards = -5, .elapsed = 10});
  REQUIRE(centred.training.end_update(true, 10) == Outcome::kApplied);
  AlgorithmState state = centred.training.save("table");
  TrainedTable resumed;
  resumed.training.restore("table", state);
  CHECK(resumed.training.reward_rate().value() == -0.5);

  model::TabularNetwork network{2, 1, 2};
  NetworkTraining plain(network, unclipped(), 0.1, model::ValueHeads::kValue);
  plain.restore("table", state);
  CHECK(plain.reward_rate().value() == 0);
  plain.take_in_rewards({.decisions = 10, .rewards = -5, .elapsed = 10});
  CHECK_FALSE(plain.reward_rate().started());

  state.reals.at("reward_rate_rewards") = std::numeric_limits<double>::quiet_NaN();
  const auto fits = centred.training.fits("table", state);
  REQUIRE_FALSE(fits);
  CHECK_THAT(fits.error().detail, Catch::Contains("average reward"));
}

TEST_CASE("an optimiser that would not be finite is not kept, though the weights are",
          "[unit][learner]") {
  TrainedTable table;
  const AlgorithmState before = table.training.save("table");
  table.training.begin_update();
  const auto step = table.step(1e25F);  // its square is infinite, a step by it none
  CHECK_FALSE(step.applied);
  CHECK(table.training.end_update(step.applied, 7) == Outcome::kDiverged);
  CHECK(table.training.save("table") == before);
}

TEST_CASE("weights that are not finite in the unit of rewards are not kept", "[unit][learner]") {
  TrainedTable table;
  table.network.parameters().back() = 1e10F;
  const AlgorithmState before = table.training.save("table");
  table.training.begin_update();
  // A deviation of 1e30.
  table.training.start_values(
      target_sums(std::vector<float>{-1e30F, 1e30F}, std::vector<float>{1, 1}));
  CHECK(table.training.end_update(true, 7) == Outcome::kDiverged);
  CHECK(table.training.save("table") == before);
}

}  // namespace
}  // namespace pacml::learner
