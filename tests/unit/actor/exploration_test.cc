#include "actor/exploration.h"

#include <cmath>
#include <limits>

#include "model/network_constants.h"
#include "tests/support/catch.h"

namespace pacml::actor {
namespace {

TEST_CASE("the ladder of eight is the published one", "[unit][actor]") {
  const double published[] = {0.4, 0.16, 0.064, 0.0256, 0.0102, 0.0041, 0.0016, 0.00066};
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(ladder_epsilon({}, i, 8) == Approx(published[i]).epsilon(0.03));
    CHECK(ladder_epsilon({}, i, 8) == Approx(std::pow(0.4, 1 + i)));
  }
}

TEST_CASE("a ladder of one step is its base", "[unit][actor]") {
  CHECK(ladder_epsilon({.base = 0.3, .exponent = 9}, 0, 1) == 0.3);
}

TEST_CASE("the ladder goes over the environments of all actors", "[unit][actor]") {
  const ExplorationConfig config;
  std::vector<double> all;
  for (std::uint32_t actor = 0; actor < 3; ++actor) {
    const auto own = ladder_of(config, ActorId{actor}, 3, 4);
    REQUIRE(own.size() == 4);
    all.insert(all.end(), own.begin(), own.end());
  }
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == ladder_epsilon(config, i, 12));
  CHECK(ladder_of(config, ActorId{4}, 3, 4) == ladder_of(config, ActorId{1}, 3, 4));
}

TEST_CASE("of equal actions greed takes the lowest", "[unit][actor]") {
  EpsilonGreedy explore({0}, 1, Seed{1});
  CHECK(explore.choose(0, 0, std::vector<float>{model::kMaskedLogit, -1, 2, 2}) == 2);
}

TEST_CASE("a random action is repeated while it is valid", "[unit][actor]") {
  constexpr float kNo = model::kMaskedLogit;
  EpsilonGreedy explore({1}, 1e6, Seed{3});  // one spell, longer than the test
  const std::vector<float> all(50, 0.0F);
  const int held = explore.choose(0, 0, all);
  for (int i = 0; i < 100; ++i) REQUIRE(explore.choose(0, 0, all) == held);
  std::vector<float> without(50, 0.0F);
  without[static_cast<std::size_t>(held)] = kNo;
  without[49 - static_cast<std::size_t>(held)] = 1;
  CHECK(explore.choose(0, 0, without) == 49 - held);  // greedy meanwhile
  CHECK(explore.choose(0, 0, all) == held);
}

TEST_CASE("an agent repeats its own random action, not that of another", "[unit][actor]") {
  // Everything is random, and goes on for long.
  EpsilonGreedy exploration({1, 1}, 1e6, Seed{3});
  const std::vector<float> all = {0, 0, 0, 0, 0, 0, 0, 0};
  int agreed = 0;
  for (std::size_t b = 0; b < 2; ++b) {
    const int first = exploration.choose(b, 0, all);
    const int second = exploration.choose(b, 1, all);
    for (int i = 0; i < 20; ++i) {
      CHECK(exploration.choose(b, 0, all) == first);
      CHECK(exploration.choose(b, 1, all) == second);
    }
    agreed += first == second ? 1 : 0;
  }
  CHECK(agreed < 2);
}

TEST_CASE("shares of random actions are shares", "[unit][actor]") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK(validate(ExplorationConfig{}).empty());
  CHECK(validate(ExplorationConfig{.base = 0, .exponent = 0}).empty());
  CHECK(validate(ExplorationConfig{.base = 1.1}).size() == 1);
  CHECK(validate(ExplorationConfig{.base = kNan, .exponent = -1}).size() == 2);
  CHECK(validate(ExplorationConfig{.persistence = 0.5}).size() == 1);
  CHECK(validate(ExplorationConfig{.exponent = std::numeric_limits<double>::infinity()}).size() ==
        1);
}

}  // namespace
}  // namespace pacml::actor
