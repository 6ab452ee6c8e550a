#include "common/rng.h"

#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "tests/support/catch.h"

namespace pacml {
namespace {

TEST_CASE("a stream of numbers is the same on every platform", "[rng]") {
  // Computed by an independent program.
  Rng rng(Seed{1});
  REQUIRE(rng.next() == 0xb3f2af6d0fc710c5ULL);
  REQUIRE(rng.next() == 0x853b559647364ceaULL);
}

TEST_CASE("streams differ by run, by purpose and by index", "[rng]") {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t run = 0; run < 10; ++run) {
    for (const Purpose purpose : {Purpose::kEpisode, Purpose::kExploration, Purpose::kEvaluation}) {
      for (std::uint64_t index = 0; index < 100; ++index) {
        seeds.insert(derive(Seed{run}, purpose, index).get());
      }
    }
  }
  REQUIRE(seeds.size() == 10 * 3 * 100);
}

TEST_CASE("uniform numbers lie in [0, 1) and average to a half", "[rng]") {
  Rng rng(Seed{2});
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double u = rng.uniform();
    REQUIRE((u >= 0 && u < 1));
    sum += u;
  }
  REQUIRE(sum / 100'000 == Approx(0.5).margin(0.005));
}

// Pearson's statistic against equal or given probabilities.
double chi_square(const std::vector<int>& counts, const std::vector<double>& probabilities) {
  double total = 0;
  for (const int c : counts) total += c;
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * probabilities[i];
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return statistic;
}

TEST_CASE("integers below n come equally often", "[rng]") {
  Rng rng(Seed{3});
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts[rng.below(7)];
  // 6 degrees of freedom: 22.5 is passed by chance once in a thousand seeds.
  REQUIRE(chi_square(counts, std::vector<double>(7, 1.0 / 7)) < 22.5);
}

TEST_CASE("categorical draws follow the weights and never an index of weight zero", "[rng]") {
  Rng rng(Seed{4});
  const std::array<double, 4> weights = {1, 0, 3, 4};
  std::vector<int> counts(4);
  for (int i = 0; i < 80'000; ++i) ++counts[rng.categorical(weights)];
  REQUIRE(counts[1] == 0);
  // 2 degrees of freedom: 13.8 is passed by chance once in a thousand seeds.
  REQUIRE(chi_square({counts[0], counts[2], counts[3]}, {0.125, 0.375, 0.5}) < 13.8);
}

TEST_CASE("normal numbers have mean 0, variance 1 and symmetric tails", "[rng]") {
  Rng rng(Seed{5});
  double sum = 0;
  double squares = 0;
  int beyond_two = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
    if (std::abs(x) > 2) ++beyond_two;
  }
  REQUIRE(sum / kDraws == Approx(0).margin(0.015));
  REQUIRE(squares / kDraws == Approx(1).margin(0.02));
  REQUIRE(beyond_two == Approx(0.0455 * kDraws).epsilon(0.06));
}

TEST_CASE("a restored state continues the stream, the spare normal included", "[rng]") {
  Rng rng(Seed{6});
  static_cast<void>(rng.normal());
  const Rng::State state = rng.state();
  const double expected = rng.normal();
  const std::uint64_t next = rng.next();
  Rng other(Seed{7});
  other.restore(state);
  REQUIRE(other.normal() == expected);
  REQUIRE(other.next() == next);
}

}  // namespace
}  // namespace pacml
