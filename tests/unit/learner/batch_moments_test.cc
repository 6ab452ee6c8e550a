#include "learner/batch_moments.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

using Floats = std::vector<float>;

TEST_CASE("a mean by importance is taken off inside the ratio", "[unit][learner]") {
  // A = 4, 1, 1 and rho = 1, 1/2, 1/4; the last value does not count.
  Floats products{4, 0.5F, 0.25F, 100};
  const Floats ratios{1, 0.5F, 0.25F, 1};
  const ImportanceSums sums = importance_sums(products, ratios, Floats{1, 1, 1, 0});
  const double mean = 4.75 / 1.75;
  CHECK(sums.mean() == Approx(mean));
  const Floats centred{static_cast<float>(4 - mean), static_cast<float>((1 - mean) / 2),
                       static_cast<float>((1 - mean) / 4)};
  double squares = 0;
  for (const float value : centred) squares += value * value;
  CHECK(sums.deviation() == Approx(std::sqrt(squares / 3)));
  standardise(sums, ratios, products);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(products[i] == Approx(centred[i] / sums.deviation()));
  }
}

TEST_CASE("on policy, importance changes nothing, and parts add up", "[unit][learner]") {
  const Floats values{3, -1, 0.5F, 7};
  const Floats ones(4, 1.0F);
  const BatchMoments plain = moments(values, ones);
  ImportanceSums sums = importance_sums(std::span(values).first(1), std::span(ones).first(1),
                                        std::span(ones).first(1));
  sums += importance_sums(std::span(values).subspan(1), std::span(ones).subspan(1),
                          std::span(ones).subspan(1));
  CHECK(sums.mean() == Approx(plain.mean()));
  CHECK(sums.deviation() == Approx(plain.deviation()));
}

TEST_CASE("values that hardly differ, and none at all, are not blown up", "[unit][learner]") {
  Floats same(100, 0.1F);
  const Floats ones(100, 1.0F);
  standardise(importance_sums(same, ones, ones), ones, same);
  for (const float value : same) REQUIRE(std::abs(value) < 0.01);
  // Nor is what is rounded in them.
  Floats products;
  Floats ratios;
  for (int i = 1; i <= 100; ++i) {
    ratios.push_back(static_cast<float>(i) / 100);
    products.push_back(ratios.back() * 300.1F);
  }
  standardise(importance_sums(products, ratios, ones), ratios, products);
  for (const float value : products) REQUIRE(std::abs(value) < 0.2);
  CHECK(importance_sums({}, {}, {}).deviation() == 0);
  CHECK(importance_sums({}, {}, {}).mean() == 0);
}

}  // namespace
}  // namespace pacml::learner
