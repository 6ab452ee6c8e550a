#include "apps/evaluation/eval_result.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.h"

using namespace pacml::apps;

TEST_CASE("the interval is Student's t over the seeds") {
  // n = 5, mean 3, s^2 = 2.5; t(0.975, 4) = 2.776445105 (any table); 2.776445 * sqrt(2.5 / 5).
  const std::vector<double> values{1, 2, 3, 4, 5};
  const MeanInterval interval = mean_interval(values);
  CHECK(interval.mean == Approx(3.0));
  CHECK(interval.ci95 == Approx(1.963243161).epsilon(1e-8));
}

TEST_CASE("two seeds have a wide interval, one has none, no seed has no mean") {
  // t(0.975, 1) = 12.7062047; s = sqrt(2); s / sqrt(2) = 1.
  CHECK(mean_interval(std::vector<double>{0, 2}).ci95 == Approx(12.7062047));
  const MeanInterval one = mean_interval(std::vector<double>{4});
  CHECK(one.mean == 4.0);
  CHECK(std::isnan(one.ci95));
  CHECK(std::isnan(mean_interval(std::vector<double>{}).mean));
}

TEST_CASE("a seed whose figure is undefined is left out") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(mean_interval(std::vector<double>{1, nan, 3}).mean == Approx(2.0));
  CHECK(std::isnan(mean_interval(std::vector<double>{nan}).mean));
}

TEST_CASE("a metric is taken over a policy's seeds") {
  PolicyResult policy{"p", {}};
  policy.seeds.push_back({1, {0, 10, {0.25, 9}}});
  policy.seeds.push_back({2, {0, 10, {0.75, std::numeric_limits<double>::quiet_NaN()}}});
  CHECK(mean_interval(policy, 0).mean == 0.5);
  CHECK(mean_interval(policy, 1).mean == 9);
  CHECK(std::isnan(mean_interval(PolicyResult{}, 0).mean));
}

TEST_CASE("a paired difference is over the episodes in which both have a value") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto policy = [](const std::vector<double>& values) {
    PolicyResult result{"p", {}};
    for (const double value : values) result.seeds.push_back({1, {0, 10, {value}}});
    return result;
  };
  const PairedDifference paired = paired_difference(policy({1, nan, 3, 8}), policy({2, 7, nan, 4}));
  CHECK(paired.episodes == 2);
  CHECK(paired.difference.mean == Approx(1.5));
  CHECK(paired.mean_of_b == Approx(3));
}
