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
  NetworkTraining training{network, unclipped(), 0.1, model::ValueHeads::kValue};

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
