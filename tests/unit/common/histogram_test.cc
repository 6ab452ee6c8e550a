#include "common/histogram.h"

#include <algorithm>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml {
namespace {

TEST_CASE("an empty histogram answers zero", "[histogram]") {
  const Histogram histogram;
  REQUIRE(histogram.count() == 0);
  REQUIRE(histogram.quantile(0.5) == 0);
  REQUIRE(histogram.max() == 0);
  REQUIRE(histogram.mean() == 0);
}

TEST_CASE("small integers are counted exactly", "[histogram]") {
  Histogram histogram;
  for (std::uint64_t v = 1; v <= 100; ++v) histogram.add(v);
  REQUIRE(histogram.quantile(0.5) == 50);
  REQUIRE(histogram.quantile(0.99) == 99);
  REQUIRE(histogram.quantile(1.0) == 100);
  REQUIRE(histogram.quantile(0.0) == 1);
  REQUIRE(histogram.mean() == Approx(50.5));
}

TEST_CASE("a weight counts as that many additions", "[histogram]") {
  Histogram histogram;
  histogram.add(3, 99);
  histogram.add(7);
  REQUIRE(histogram.count() == 100);
  REQUIRE(histogram.quantile(0.99) == 3);
  REQUIRE(histogram.quantile(0.995) == 7);
}

TEST_CASE("quantiles of any size are within a 64th of the sorted list's", "[histogram]") {
  const auto seed = GENERATE(range(0, 20));
  INFO("seed " << seed);
  Rng rng(Seed{static_cast<std::uint64_t>(seed)});
  Histogram histogram;
  std::vector<std::uint64_t> model;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = rng.next() >> rng.below(64);
    histogram.add(value);
    model.push_back(value);
  }
  std::sort(model.begin(), model.end());
  REQUIRE(histogram.max() == model.back());
  for (const std::size_t rank : {1U, 10U, 500U, 990U, 1000U}) {
    const std::uint64_t exact = model[rank - 1];
    const std::uint64_t got = histogram.quantile(static_cast<double>(rank) / 1000.0);
    REQUIRE(got >= exact);
    REQUIRE(got - exact <= exact / 64);
  }
}

TEST_CASE("the largest value has a bucket", "[histogram]") {
  Histogram histogram;
  histogram.add(UINT64_MAX);
  REQUIRE(histogram.quantile(0.5) == UINT64_MAX);
}

TEST_CASE("merging is adding both, clearing forgets", "[histogram]") {
  Histogram a;
  Histogram b;
  a.add(1);
  b.add(1'000'000);
  a.merge(b);
  REQUIRE(a.count() == 2);
  REQUIRE(a.max() == 1'000'000);
  REQUIRE(a.quantile(0.5) == 1);
  a.clear();
  REQUIRE(a.count() == 0);
  REQUIRE(a.max() == 0);
}

}  // namespace
}  // namespace pacml
