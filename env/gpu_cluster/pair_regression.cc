#include "env/gpu_cluster/pair_regression.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/check.h"

namespace pacml::env {
namespace {

constexpr double kLeastResidual = 1e-9;  // of the conjugate gradients, relative
constexpr int kMostIterations = 1000;
constexpr int kMostNewtonSteps = 30;
constexpr double kNewtonDone = 1e-6;  // of z
constexpr double kLeastCurvature = 1e-6;

class PairSpace {
 public:
  PairSpace(std::span<const double> alike, std::size_t things, std::span<const ThingPair> pairs)
      : alike_(alike), things_(things), pairs_(pairs) {
    PACML_CHECK(alike.size() == things * things, "how alike all things are");
    for (const auto& [a, b] : pairs) PACML_CHECK(a < things && b < things, "a pair of things");
  }

  // z of W = the sum of weights[n] x_a x_b'
  [[nodiscard]] std::vector<double> everywhere(std::span<const double> weights) const {
    std::vector<double> sums(things_ * things_, 0.0);
    for (std::size_t n = 0; n < pairs_.size(); ++n) {
      sums[pairs_[n].first * things_ + pairs_[n].second] += weights[n];
    }
    return product(alike_, product(sums, alike_));
  }
  [[nodiscard]] std::vector<double> at_pairs(std::span<const double> weights) const {
    return at_pairs_of(everywhere(weights));
  }
  [[nodiscard]] std::vector<double> at_pairs_of(std::span<const double> z) const {
    std::vector<double> out;
    out.reserve(pairs_.size());
    for (const auto& [a, b] : pairs_) out.push_back(z[a * things_ + b]);
    return out;
  }

 private:
  [[nodiscard]] std::vector<double> product(std::span<const double> left,
                                            std::span<const double> right) const {
    std::vector<double> out(things_ * things_, 0.0);
    for (std::size_t i = 0; i < things_; ++i) {
      for (std::size_t k = 0; k < things_; ++k) {
        const double factor = left[i * things_ + k];
        if (factor == 0) continue;
        for (std::size_t j = 0; j < things_; ++j) {
          out[i * things_ + j] += factor * right[k * things_ + j];
        }
      }
    }
    return out;
  }

  std::span<const double> alike_;  // [things, things]
  std::size_t things_;
  std::span<const ThingPair> pairs_;
};

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The weights of the pairs whose z is nearest to the targets, an error counting curvature[n] times:
// curvature^1/2 y with (curvature^1/2 K curvature^1/2 + ridge) y = curvature^1/2 target, which is
// well conditioned also where curvatures are small. By conjugate gradients.
std::vector<double> solve(const PairSpace& space, std::span<const double> targets,
                          std::span<const double> curvature, double ridge) {
  const std::size_t count = targets.size();
  std::vector<double> root(count);
  std::vector<double> residual(count);
  for (std::size_t n = 0; n < count; ++n) {
    root[n] = std::sqrt(curvature[n]);
    residual[n] = root[n] * targets[n];
  }
  std::vector<double> found(count, 0.0);
  std::vector<double> direction = residual;
  std::vector<double> scaled(count);
  double square = dot(residual, residual);
  const double enough = square * kLeastResidual * kLeastResidual;
  for (int step = 0; step < kMostIterations && square > enough; ++step) {
    for (std::size_t n = 0; n < count; ++n) scaled[n] = root[n] * direction[n];
    std::vector<double> image = space.at_pairs(scaled);
    for (std::size_t n = 0; n < count; ++n) image[n] = root[n] * image[n] + ridge * direction[n];
    const double length = square / dot(direction, image);
    for (std::size_t n = 0; n < count; ++n) {
      found[n] += length * direction[n];
      residual[n] -= length * image[n];
    }
    const double next = dot(residual, residual);
    for (std::size_t n = 0; n < count; ++n) {
      direction[n] = residual[n] + next / square * direction[n];
    }
    square = next;
  }
  for (std::size_t n = 0; n < count; ++n) found[n] *= root[n];
  return found;
}

}  // namespace

std::vector<double> ridge_of_pairs(std::span<const double> alike, std::size_t things,
                                   std::span<const ThingPair> pairs,
                                   std::span<const double> targets, double ridge) {
  PACML_CHECK(pairs.size() == targets.size(), "a target for each pair");
  const PairSpace space(alike, things, pairs);
  return space.everywhere(solve(space, targets, std::vector<double>(pairs.size(), 1.0), ridge));
}

std::vector<double> logistic_of_pairs(std::span<const double> alike, std::size_t things,
                                      std::span<const ThingPair> pairs,
                                      std::span<const double> seen, double ridge) {
  PACML_CHECK(pairs.size() == seen.size(), "what was seen of each pair");
  const PairSpace space(alike, things, pairs);
  std::vector<double> z(things * things, 0.0);
  std::vector<double> target(pairs.size());
  std::vector<double> curvature(pairs.size());
  for (int step = 0; step < kMostNewtonSteps; ++step) {
    const std::vector<double> now = space.at_pairs_of(z);
    for (std::size_t n = 0; n < pairs.size(); ++n) {
      const double p = 1 / (1 + std::exp(-now[n]));
      curvature[n] = std::max(p * (1 - p), kLeastCurvature);
      target[n] = now[n] + (seen[n] - p) / curvature[n];
    }
    const std::vector<double> before = std::move(z);
    z = space.everywhere(solve(space, target, curvature, ridge));
    double moved = 0;
    for (std::size_t i = 0; i < z.size(); ++i) moved = std::max(moved, std::abs(z[i] - before[i]));
    if (moved < kNewtonDone) break;
  }
  return z;
}

}  // namespace pacml::env
