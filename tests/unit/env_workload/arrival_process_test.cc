#include "env/workload/arrival_process.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "env/workload/requirement.h"
#include "env/workload/word_stream.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

constexpr double kPi = std::numbers::pi;

DistributionConfig diurnal(double value, double amplitude, double period) {
  return {
      .kind = DistributionKind::kDiurnal, .value = value, .amplitude = amplitude, .period = period};
}

// The integral of a diurnal rate from 0 to a time.
double integral(const DistributionConfig& c, double time) {
  const double turn = 2 * kPi / c.period;
  return (time + c.amplitude / turn * (1 - std::cos(turn * time))) / c.value;
}

}  // namespace

TEST_CASE("times of a Poisson process are exponentially distributed") {
  const ArrivalProcess process({.kind = DistributionKind::kPoisson, .value = 250});
  CHECK(process.mean() == 250);
  const WordStream words(Seed{7}, 1);
  constexpr int kCount = 200'000;
  double sum = 0;
  std::vector<int> beyond(4);
  for (int i = 0; i < kCount; ++i) {
    const double gap = process.until_next(1e6 * i, words.word(static_cast<std::uint64_t>(i)));
    REQUIRE(gap > 0);
    sum += gap;
    for (std::size_t k = 0; k < beyond.size(); ++k) {
      beyond[k] += gap > 250 * static_cast<double>(k + 1) ? 1 : 0;
    }
  }
  CHECK(sum / kCount == Approx(250).epsilon(0.01));  // four standard errors
  for (std::size_t k = 0; k < beyond.size(); ++k) {
    const double expected = std::exp(-static_cast<double>(k + 1));
    CHECK(std::abs(beyond[k] / double{kCount} - expected) < 4 * std::sqrt(expected / kCount));
  }
  // The least and the greatest word have times, too.
  CHECK(process.until_next(0, 0) == Approx(250 * 53 * std::log(2)));
  CHECK(process.until_next(0, ~std::uint64_t{0}) > 0);
}

TEST_CASE("the integral of a diurnal rate between arrivals is a Poisson process's time") {
  const auto config = GENERATE(diurnal(10, 0.5, 1000), diurnal(10, 1, 1000), diurnal(3, 0, 86'400),
                               diurnal(1000, 0.9, 30), diurnal(5, 1, 1e-3));
  const ArrivalProcess process(config);
  const ArrivalProcess plain({.kind = DistributionKind::kPoisson, .value = 1});
  CHECK(process.mean() == config.value);
  const WordStream words(Seed{8}, 2);
  double time = 0;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const double gap = process.until_next(time, words.word(i));
    REQUIRE(gap > 0);
    REQUIRE(integral(config, time + gap) - integral(config, time) ==
            Approx(plain.until_next(0, words.word(i))).epsilon(1e-6).margin(1e-6));
    time += gap;
  }
}

TEST_CASE("finitely many values arrive as they do by themselves") {
  const DistributionConfig config{.kind = DistributionKind::kUniform, .min = 1, .max = 9};
  const ArrivalProcess process(config);
  const Distribution distribution = make_distribution(config);
  CHECK(process.mean() == distribution.mean());
  const WordStream words(Seed{9}, 3);
  for (std::uint64_t i = 0; i < 100; ++i) {
    REQUIRE(process.until_next(5, words.word(i)) == distribution.value_of(words.word(i)));
  }
}

TEST_CASE("what no arrivals can be is refused in a sentence") {
  CHECK(arrival_problems({.kind = DistributionKind::kPoisson, .value = 0}) ==
        std::vector<std::string>{"value must be above 0"});
  CHECK(validate(diurnal(10, 1.5, 100)) ==
        std::vector<std::string>{"amplitude must be from 0 to 1"});
  CHECK(validate(diurnal(10, 0.5, 0)) == std::vector<std::string>{"period must be above 0"});
  CHECK_THROWS_WITH(ArrivalProcess(diurnal(-1, 0.5, 10)), "value must be above 0");
  CHECK(arrival_problems({.kind = DistributionKind::kPmf, .pmf = {{"0", 0.5}, {"1", 0.5}}}) ==
        std::vector<std::string>{"must have all its values above 0"});
  // Keys that the kind does not read.
  CHECK(arrival_problems({.kind = DistributionKind::kFixed, .min = -1, .max = 0}) ==
        std::vector<std::string>{"min must be at least 0", "max must be above 0"});
  CHECK(arrival_problems({.kind = DistributionKind::kUniform, .value = 0}) ==
        std::vector<std::string>{"value must be above 0"});
  // The right edges of its bins are above its least value.
  CHECK(arrival_problems({.kind = DistributionKind::kSkewNormal,
                          .min = 0,
                          .max = 100,
                          .decimals = 0,
                          .num_bins = 100}) == std::vector<std::string>{});
  // They are no fractions.
  RequirementConfig requirement;
  requirement.kind = DistributionKind::kPoisson;
  CHECK(validate(requirement) ==
        std::vector<std::string>{"kind poisson must have all its values above 0 and up to 1"});
}

}  // namespace pacml::env
