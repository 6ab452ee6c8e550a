#include "learner/reward_rate.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

TEST_CASE("the average reward is what a unit of time paid", "[unit][learner]") {
  RewardRate rate;
  CHECK_FALSE(rate.started());
  CHECK(rate.value() == 0);
  rate.take_in({.decisions = 10, .rewards = -6, .elapsed = 4});
  CHECK(rate.started());
  CHECK(rate.value() == -1.5);
  rate.take_in({});
  CHECK(rate.value() == -1.5);
}

TEST_CASE("what was long ago counts for little in the average reward", "[unit][learner]") {
  constexpr double kMemory = 131'072;  // decisions after which one weighs 1/e
  RewardRate rate;
  rate.take_in({.decisions = 1000, .rewards = 1000, .elapsed = 1000});
  rate.take_in({.decisions = kMemory, .rewards = 0, .elapsed = 1000});
  CHECK(rate.value() == Approx(std::exp(-1.0) / (std::exp(-1.0) + 1)));
  rate.take_in({.decisions = 20 * kMemory, .rewards = 0, .elapsed = 1000});
  CHECK(rate.value() == Approx(0).margin(1e-8));
}

TEST_CASE("an average reward is part of a state, and of one without it has not started",
          "[unit][learner]") {
  RewardRate rate;
  rate.take_in({.decisions = 10, .rewards = -6, .elapsed = 4});
  AlgorithmState state;
  rate.save(state);
  RewardRate saved = RewardRate::saved_in(state);
  CHECK(saved.value() == -1.5);
  saved.take_in({.decisions = 10, .rewards = -6, .elapsed = 4});
  rate.take_in({.decisions = 10, .rewards = -6, .elapsed = 4});
  CHECK(saved.value() == rate.value());
  CHECK_FALSE(RewardRate::saved_in(AlgorithmState{}).started());
}

TEST_CASE("an average reward knows whether it is a number", "[unit][learner]") {
  RewardRate rate;
  CHECK(rate.is_finite());
  rate.take_in({.decisions = 1, .rewards = std::numeric_limits<double>::infinity(), .elapsed = 1});
  CHECK_FALSE(rate.is_finite());
}

}  // namespace
}  // namespace pacml::learner
