#include "learner/behaviour_cloning.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"
#include "tests/support/tabular_network.h"

namespace pacml::learner {
namespace {

constexpr std::size_t kStates = 4;
constexpr int kActions = 3;

// Each state as often as the others; in state s somebody takes action s mod 3, but for a fifth of
// the time in state 3, where it is 1.
Demonstrations shown() {
  Demonstrations out{Observations(plain_shape(1, kActions)), {}};
  for (int i = 0; i < 400; ++i) {
    const auto state = static_cast<std::size_t>(i) % kStates;
    const ObservationRow row = out.observations.append();
    row.globals[0] = static_cast<float>(state);
    for (std::uint8_t& valid : row.mask) valid = 1;
    const bool other = state == 3 && i / 4 % 5 == 0;
    out.actions.push_back(other ? 1 : static_cast<std::int32_t>(state % kActions));
  }
  return out;
}

double probability(const model::TabularNetwork& network, std::size_t state, std::size_t action) {
  const auto weights = network.parameters().subspan(state * kActions, kActions);
  double sum = 0;
  for (const float weight : weights) sum += std::exp(double{weight});
  return std::exp(double{weights[action]}) / sum;
}

TEST_CASE("a cloned policy does what was shown as often as it is to", "[unit][learner]") {
  const Demonstrations demonstrations = shown();
  model::TabularNetwork network(kStates, 1, kActions);
  BehaviouralCloning cloning({.probability = 0.9, .minibatch_decisions = 50, .learning_rate = 0.05},
                             demonstrations, network, Seed{1});
  const auto first = cloning.pass();
  CHECK(first.loss > 0.5);
  CHECK(first.probability < 0.6);
  BehaviouralCloning::Pass last;
  for (int pass = 0; pass < 100; ++pass) last = cloning.pass();
  CHECK_FALSE(last.diverged);
  for (std::size_t state = 0; state < 3; ++state) {
    CHECK(probability(network, state, state) == Approx(0.9).margin(0.02));
  }
  // What is done in four of five cases: 0.8 * 0.9 + 0.2 * 0.05.
  CHECK(probability(network, 3, 0) == Approx(0.73).margin(0.03));
  CHECK(last.agreement == Approx(0.95).margin(1e-9));
  CHECK(last.probability == Approx((3 * 0.9 + 0.8 * 0.73 + 0.2 * 0.22) / 4).margin(0.02));
}

TEST_CASE("cloning is a function of its seed, and stops where it is asked to", "[unit][learner]") {
  const Demonstrations demonstrations = shown();
  const auto weights_after = [&](Seed seed, int minibatches) {
    model::TabularNetwork network(kStates, 1, kActions);
    BehaviouralCloning cloning({.minibatch_decisions = 128}, demonstrations, network, seed);
    static_cast<void>(cloning.pass([&] { return minibatches-- > 0; }));
    return std::vector<float>(network.parameters().begin(), network.parameters().end());
  };
  CHECK(weights_after(Seed{1}, 99) == weights_after(Seed{1}, 4));  // 400 in four pieces
  CHECK(weights_after(Seed{1}, 99) != weights_after(Seed{2}, 99));
  CHECK(weights_after(Seed{1}, 3) != weights_after(Seed{1}, 4));
  CHECK(weights_after(Seed{1}, 0) == std::vector<float>(kStates * (kActions + 1) + 1, 0.0F));
}

TEST_CASE("cloning says where nothing finite comes of it", "[unit][learner]") {
  const Demonstrations demonstrations = shown();
  model::TabularNetwork network(kStates, 1, kActions);
  network.parameters()[0] = std::numeric_limits<float>::quiet_NaN();
  BehaviouralCloning cloning({}, demonstrations, network, Seed{1});
  CHECK(cloning.pass().diverged);
}

}  // namespace
}  // namespace pacml::learner
