#include "learner/returns/importance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

std::vector<float> weights_of(const std::vector<double>& probabilities, double beta) {
  std::vector<float> out(probabilities.size());
  const double least = probabilities.empty() ? 1 : *std::ranges::min_element(probabilities);
  importance_weights(probabilities, least, beta, out);
  return out;
}

TEST_CASE("importance weights are (N P)^-beta over the batch's greatest", "[unit][learner]") {
  constexpr double kItems = 1000;
  const std::vector<double> probabilities = {0.02, 0.001, 0.3, 0.0004};
  for (const double beta : {0.0, 0.4, 1.0}) {
    std::vector<double> expected;
    for (const double p : probabilities) expected.push_back(std::pow(kItems * p, -beta));
    const double greatest = *std::ranges::max_element(expected);
    const auto weights = weights_of(probabilities, beta);
    for (std::size_t n = 0; n < weights.size(); ++n) {
      CHECK(weights[n] == Approx(expected[n] / greatest));
    }
  }
}

TEST_CASE("fully corrected draws estimate the mean over all items", "[unit][learner]") {
  // Items x = 0 .. 9, drawn in proportion to x + 1. Their mean is 4.5.
  std::vector<double> probabilities(10);
  for (std::size_t x = 0; x < 10; ++x) probabilities[x] = static_cast<double>(x + 1) / 55;
  const auto weights = weights_of(probabilities, 1);
  double sum = 0;
  double total = 0;
  for (std::size_t x = 0; x < 10; ++x) {
    sum += probabilities[x] * weights[x] * static_cast<double>(x);
    total += probabilities[x] * weights[x];
  }
  CHECK(sum / total == Approx(4.5));
}

TEST_CASE("the rarest draw weighs 1, and extreme probabilities stay finite", "[unit][learner]") {
  const auto weights = weights_of({1e-300, 1e-12, 1.0}, 1);
  CHECK(weights[0] == 1);
  for (const float weight : weights) CHECK((weight >= 0 && weight <= 1));
  CHECK(weights_of({}, 0.4).empty());
}

}  // namespace
}  // namespace pacml::learner
