#include "env/gpu_cluster/pair_regression.h"

#include <cmath>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

constexpr std::size_t kThings = 7;
constexpr std::size_t kWidth = 3;

// x [kThings, kWidth], and how alike its rows are.
struct Things {
  std::vector<double> x;
  std::vector<double> alike;
};

Things random_things(Rng& rng) {
  Things out;
  for (std::size_t i = 0; i < kThings * kWidth; ++i) out.x.push_back(rng.normal());
  for (std::size_t s = 0; s < kThings; ++s) {
    for (std::size_t t = 0; t < kThings; ++t) {
      double sum = 0;
      for (std::size_t i = 0; i < kWidth; ++i) sum += out.x[s * kWidth + i] * out.x[t * kWidth + i];
      out.alike.push_back(sum);
    }
  }
  return out;
}

// d/dW of half the ridge loss, or of the logistic one, is 0 at its least: W = the sum of
// -slope(z) x_a x_b' / ridge. Returns how far z is from that of such a W.
template <class Slope>
double distance_from_least(const Things& things, const std::vector<ThingPair>& pairs,
                           const std::vector<double>& z, double ridge, Slope slope) {
  std::vector<double> w(kWidth * kWidth, 0.0);
  for (std::size_t n = 0; n < pairs.size(); ++n) {
    const auto [a, b] = pairs[n];
    const double by = -slope(n, z[a * kThings + b]) / ridge;
    for (std::size_t i = 0; i < kWidth; ++i) {
      for (std::size_t j = 0; j < kWidth; ++j) {
        w[i * kWidth + j] += by * things.x[a * kWidth + i] * things.x[b * kWidth + j];
      }
    }
  }
  double worst = 0;
  for (std::size_t a = 0; a < kThings; ++a) {
    for (std::size_t b = 0; b < kThings; ++b) {
      double sum = 0;
      for (std::size_t i = 0; i < kWidth; ++i) {
        for (std::size_t j = 0; j < kWidth; ++j) {
          sum += things.x[a * kWidth + i] * w[i * kWidth + j] * things.x[b * kWidth + j];
        }
      }
      worst = std::max(worst, std::abs(sum - z[a * kThings + b]));
    }
  }
  return worst;
}

TEST_CASE("regressions on pairs are where their losses are least", "[unit][gpu_cluster]") {
  Rng rng(Seed{1});
  for (const double ridge : {0.05, 3.0}) {
    const Things things = random_things(rng);
    std::vector<ThingPair> pairs;
    std::vector<double> targets;
    std::vector<double> seen;
    for (int n = 0; n < 30; ++n) {
      pairs.emplace_back(rng.below(kThings), rng.below(kThings));
      targets.push_back(rng.normal());
      seen.push_back(rng.uniform() < 0.7 ? 1 : 0);
    }
    const auto z = ridge_of_pairs(things.alike, kThings, pairs, targets, ridge);
    CHECK(distance_from_least(things, pairs, z, ridge,
                              [&](std::size_t n, double at) { return at - targets[n]; }) < 1e-4);
    const auto odds = logistic_of_pairs(things.alike, kThings, pairs, seen, ridge);
    CHECK(distance_from_least(things, pairs, odds, ridge, [&](std::size_t n, double at) {
            return 1 / (1 + std::exp(-at)) - seen[n];
          }) < 1e-4);
  }
}

}  // namespace
}  // namespace pacml::env
