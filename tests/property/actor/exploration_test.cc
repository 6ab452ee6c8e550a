#include "actor/exploration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "model/network_constants.h"
#include "tests/support/catch.h"

namespace pacml::actor {
namespace {

// A row of values of `actions` actions, at least one of them valid, ties among them.
std::vector<float> random_values(Rng& rng, std::size_t actions) {
  std::vector<float> values(actions);
  for (float& value : values) {
    value = rng.below(2) == 0 ? model::kMaskedLogit : static_cast<float>(rng.below(5)) - 10;
  }
  values[rng.below(values.size())] = -20;
  return values;
}

TEST_CASE("neither chance nor greed picks an invalid action", "[property][actor]") {
  const std::size_t actions = GENERATE(1, 2, 17);
  Rng rng(Seed{1});
  EpsilonGreedy explore({0.0, 0.5, 1.0}, 3, Seed{4});
  for (int i = 0; i < 20'000; ++i) {
    const auto values = random_values(rng, actions);
    const std::size_t b = rng.below(3);
    const int action = explore.choose(b, 0, values);
    REQUIRE(action >= 0);
    REQUIRE(static_cast<std::size_t>(action) < values.size());
    REQUIRE(values[static_cast<std::size_t>(action)] != model::kMaskedLogit);
    // Greed takes the first of the greatest; an invalid value is below every valid one.
    if (b == 0) {
      REQUIRE(action == std::ranges::max_element(values) - values.begin());
    }
  }
}

TEST_CASE("an action is random as often as epsilon says, and then any valid one alike",
          "[property][actor]") {
  const float no = model::kMaskedLogit;
  const std::vector<float> values = {no, 1, no, 3, 2, no, 0};
  const double epsilon = 0.3;
  constexpr int kDraws = 200'000;
  std::vector<int> drawn(values.size(), 0);
  EpsilonGreedy explore({epsilon}, 1, Seed{2});
  for (int i = 0; i < kDraws; ++i) {
    ++drawn[static_cast<std::size_t>(explore.choose(0, 0, values))];
  }
  for (std::size_t a = 0; a < values.size(); ++a) {
    const double p = values[a] == no ? 0 : epsilon / 4 + (a == 3 ? 1 - epsilon : 0);
    const double deviation = std::sqrt(kDraws * p * (1 - p));
    CAPTURE(a);
    CHECK(drawn[a] == Approx(kDraws * p).margin(5 * deviation));
  }
}

TEST_CASE("repeating random actions leaves their share what epsilon says", "[property][actor]") {
  const std::vector<float> values = {0, 1, 0, 0};
  const double epsilon = 0.3;
  const double persistence = 20;
  constexpr int kDraws = 2'000'000;
  EpsilonGreedy explore({epsilon}, persistence, Seed{5});
  int greedy = 0;
  int spells = 0;
  int last = 1;
  for (int i = 0; i < kDraws; ++i) {
    const int action = explore.choose(0, 0, values);
    greedy += action == 1 ? 1 : 0;
    spells += action != 1 && action != last ? 1 : 0;
    last = action;
  }
  // A quarter of the random actions is the greedy one. Spells are independent: about
  // kDraws epsilon / persistence of them.
  const double share = 1 - static_cast<double>(greedy) / kDraws;
  CHECK(share == Approx(0.75 * epsilon).epsilon(0.03));
  // Those of other actions, but for the few that go on where one of the same action ended.
  CHECK(spells == Approx(0.75 * kDraws * epsilon / persistence).epsilon(0.05));
}

}  // namespace
}  // namespace pacml::actor
