#include "env/workload/distribution.h"

#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "chi_square.h"
#include "common/result.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

DistributionConfig uniform(double min, double max, int decimals) {
  return {.kind = DistributionKind::kUniform, .min = min, .max = max, .decimals = decimals};
}

DistributionConfig pmf(std::map<std::string, double> probabilities) {
  return {.kind = DistributionKind::kPmf, .pmf = std::move(probabilities)};
}

DistributionConfig skew_normal(double skewness, std::uint64_t seed) {
  return {.kind = DistributionKind::kSkewNormal, .skewness = skewness, .seed = seed};
}

std::map<double, double> count_samples(const Distribution& distribution, int samples, Seed seed) {
  Rng rng(seed);
  std::map<double, double> counts;
  for (int i = 0; i < samples; ++i) counts[distribution.sample(rng)] += 1;
  return counts;
}

std::string first_problem(const DistributionConfig& config) {
  const auto problems = validate(config);
  return problems.empty() ? "" : problems.front();
}

}  // namespace

TEST_CASE("a fixed distribution has one value") {
  const auto d = make_distribution({.kind = DistributionKind::kFixed, .value = 1000});
  REQUIRE(d.values().size() == 1);
  CHECK(d.mean() == 1000);
  Rng rng(Seed{1});
  for (int i = 0; i < 100; ++i) REQUIRE(d.sample(rng) == 1000);
}

TEST_CASE("the published requirement grid is the 91 two-decimal numbers from 0.1 to 1") {
  const std::vector<double> grid = uniform_grid(0.1, 1.0, 2);
  REQUIRE(grid.size() == 91);
  for (int k = 0; k < 91; ++k) {
    // The double that the decimal text means, not one reached by adding steps.
    REQUIRE(grid[static_cast<std::size_t>(k)] ==
            std::stod("0." + std::to_string(100 + 10 + k).substr(1)) + (k == 90 ? 1.0 : 0.0));
  }
}

TEST_CASE("the published grid formula overshoots where its quotient rounds up") {
  CHECK(uniform_grid(0.01, 0.07, 2).back() == 0.08);
  CHECK(uniform_grid(0.7, 1.0, 2).back() == 1.01);
  CHECK(uniform_grid(0.5, 1.0, 2).back() == 1.0);
  CHECK(uniform_grid(1, 3, 0) == std::vector<double>{1, 2, 3});
}

TEST_CASE("rounding to decimals looks at the exact binary value") {
  CHECK(round_to_decimals(0.125, 2) == 0.12);  // an exact tie goes to the even digit
  CHECK(round_to_decimals(2.675, 2) == 2.67);  // the double is just below the tie
  CHECK(round_to_decimals(0.1 + 0.2, 2) == 0.3);
  CHECK(round_to_decimals(-1.005, 1) == -1.0);
}

TEST_CASE("a uniform distribution gives every grid point the same chance") {
  const auto d = make_distribution(uniform(0.1, 1.0, 2));
  CHECK(d.mean() == Approx(0.55));
  CHECK(looks_drawn_from(d, count_samples(d, 91'000, Seed{11})));
}

TEST_CASE("a grid too fine to tell has one value") {
  CHECK(uniform_grid(5e14, 5e14, 2).size() == 1);
  CHECK(uniform_grid(2e7, 2e7, 9).size() == 1);
}

TEST_CASE("a pmf is sampled with its probabilities") {
  const auto d = make_distribution(pmf({{"0.5", 0.05}, {"10", 0.6}, {"2", 0.349}, {"3", 0.001}}));
  REQUIRE(d.values().size() == 4);
  CHECK(d.values()[3] == 10);  // ordered as numbers, not as text
  CHECK(d.probabilities()[3] == Approx(0.6));
  CHECK(looks_drawn_from(d, count_samples(d, 100'000, Seed{5})));
}

TEST_CASE("the chi-square check of these tests rejects a distribution that is off by little") {
  const auto right = make_distribution(pmf({{"1", 0.50}, {"2", 0.30}, {"3", 0.20}}));
  const auto wrong = make_distribution(pmf({{"1", 0.51}, {"2", 0.29}, {"3", 0.20}}));
  const auto fewer = make_distribution(pmf({{"1", 0.50}, {"2", 0.50}}));
  const auto counts = count_samples(right, 100'000, Seed{7});
  CHECK(looks_drawn_from(right, counts));
  CHECK_FALSE(looks_drawn_from(wrong, counts));
  CHECK_FALSE(looks_drawn_from(fewer, counts));
}

TEST_CASE("probabilities that sum to nearly 1 are normalised") {
  const auto d = make_distribution(pmf({{"0.2", 0.5004}, {"0.4", 0.5}}));
  CHECK(std::accumulate(d.probabilities().begin(), d.probabilities().end(), 0.0) == Approx(1.0));
}

TEST_CASE("a value of probability 0 is never drawn") {
  const auto d = make_distribution(pmf({{"0.2", 1.0}, {"0.4", 0.0}}));
  CHECK(d.values().size() == 1);
}

TEST_CASE("words spread evenly give each value its exact share") {
  std::map<std::string, double> probabilities;
  for (int i = 1; i <= 40; ++i) probabilities[std::to_string(i)] = i / 820.0;
  const auto d = make_distribution(pmf(probabilities));
  constexpr std::uint64_t kWords = 1 << 20;
  std::map<double, double> counts;
  for (std::uint64_t i = 0; i < kWords; ++i) counts[d.value_of(i * (UINT64_MAX / kWords))] += 1;
  for (std::size_t i = 0; i < d.values().size(); ++i) {
    // Each of a value's cells is cut at most once, which misplaces one word.
    CHECK(counts[d.values()[i]] == Approx(kWords * d.probabilities()[i]).margin(45));
  }
}

TEST_CASE("every word stands for a value, the extreme ones too") {
  const auto d = make_distribution(pmf({{"0.1", 0.2}, {"0.2", 0.3}, {"0.3", 0.5}}));
  const std::map<double, double> known = {{0.1, 1}, {0.2, 1}, {0.3, 1}};
  CHECK(known.count(d.value_of(0)) == 1);
  CHECK(known.count(d.value_of(UINT64_MAX)) == 1);
}

TEST_CASE("a skew-normal has its mass where its skewness says") {
  const double low = make_distribution(skew_normal(5, 1)).mean();
  const double bell = make_distribution(skew_normal(0, 1)).mean();
  const double high = make_distribution(skew_normal(-5, 1)).mean();
  CHECK(low < 0.4);
  CHECK(bell > low);
  CHECK(bell < high);
  CHECK(high > 0.6);
}

TEST_CASE("skew-normal shapes spread as those of the published construction do") {
  // Each row: skewness, and the least and greatest mean over shapes that the public program drew.
  for (const auto& [skewness, least, greatest] :
       {std::array{5.0, 0.235, 0.361}, {0.0, 0.418, 0.575}, {-5.0, 0.663, 0.774}}) {
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      const double mean = make_distribution(skew_normal(skewness, seed)).mean();
      INFO("skewness " << skewness << " seed " << seed);
      CHECK(mean > least - 0.02);
      CHECK(mean < greatest + 0.02);
    }
  }
}

TEST_CASE("a skew-normal is on the grid, within its limits, and a function of its seed") {
  const auto d = make_distribution(skew_normal(5, 3));
  CHECK(d.values().front() == 0.1);
  CHECK(d.values().back() == 1.0);
  for (const double value : d.values()) REQUIRE(value == round_to_decimals(value, 2));
  const auto same = make_distribution(skew_normal(5, 3));
  const auto other = make_distribution(skew_normal(5, 4));
  CHECK(std::vector(d.probabilities().begin(), d.probabilities().end()) ==
        std::vector(same.probabilities().begin(), same.probabilities().end()));
  CHECK(d.mean() != other.mean());
}

TEST_CASE("a bad distribution is refused with the key at fault") {
  CHECK(first_problem({.kind = DistributionKind::kFixed, .value = NAN}) ==
        "value must be from -1e15 to 1e15");
  CHECK(first_problem(uniform(1.0, 0.1, 2)) == "min (1) must not be above max (0.1)");
  CHECK(first_problem(uniform(0.1, INFINITY, 2)) == "max must be from -1e15 to 1e15");
  CHECK(first_problem(uniform(0.1, 1.0, 10)) == "decimals must be 0 to 9, not 10");
  CHECK(first_problem(uniform(0.1, 1.0, 9)) ==
        "decimals (9) gives more than 1e+05 values between min and max");
  CHECK(first_problem(pmf({})) == "pmf must name at least one value");
  CHECK(first_problem(pmf({{"half", 1.0}})) ==
        "pmf has \"half\" where a finite number is expected");
  CHECK(first_problem(pmf({{"0.50", 0.5}, {"0.5", 0.5}})) == "pmf names the value 0.5 twice");
  CHECK(first_problem(pmf({{"0.2", -0.5}, {"0.5", 1.5}})) ==
        "pmf gives 0.2 the probability -0.5, which is not one");
  CHECK(first_problem(pmf({{"1e308", 1.0}})) ==
        "pmf has the value 1e308; values must be from -1e15 to 1e15");
  CHECK(first_problem(pmf({{"0.2", 0.5}, {"0.5", 0.4}})) == "pmf must sum to 1, not 0.9");
  DistributionConfig bins = skew_normal(1, 1);
  bins.num_bins = 0;
  CHECK(first_problem(bins) == "num_bins must be 1 to 1000000");
  CHECK(first_problem({.kind = DistributionKind::kList}) == "kind must not be list here");
  // Of kinds that do not read them.
  CHECK(first_problem({.kind = DistributionKind::kFixed, .decimals = -1}) ==
        "decimals must be 0 to 9, not -1");
  CHECK(first_problem({.kind = DistributionKind::kPoisson, .num_bins = 0}) ==
        "num_bins must be 1 to 1000000");
  CHECK(first_problem({.kind = DistributionKind::kFixed, .pmf = {{"half", 1.0}}}) ==
        "pmf has \"half\" where a finite number is expected");
  CHECK_THROWS_AS(make_distribution(uniform(1.0, 0.1, 2)), UserError);
}

TEST_CASE("a good distribution has no problem") {
  CHECK(validate(uniform(0.1, 1.0, 2)).empty());
  CHECK(validate(skew_normal(-5, 0)).empty());
  CHECK(validate(pmf({{"1", 1.0}})).empty());
}

}  // namespace pacml::env
