#include "learner/value_normaliser.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/check.h"

namespace pacml::learner {
namespace {

// Keeps the head's weights within float32 when targets hardly differ.
constexpr double kMinDeviation = 1e-4;

}  // namespace

void ValueNormaliser::start(std::span<const float> targets, std::span<const float> weights) {
  PACML_CHECK(!started(), "only the first batch starts the moments");
  take_in(targets, weights);
}

ValueNormaliser::Change ValueNormaliser::update(std::span<const float> targets,
                                                std::span<const float> weights) {
  const double old_mean = mean_;
  const double old_deviation = deviation_;
  take_in(targets, weights);
  return {old_deviation / deviation_, (old_mean - mean_) / deviation_};
}

void ValueNormaliser::take_in(std::span<const float> targets, std::span<const float> weights) {
  PACML_CHECK(targets.size() == weights.size(), "one weight per target");
  double sum = 0;
  double square = 0;
  double count = 0;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    if (!(weights[n] > 0)) continue;
    const double target = targets[n];
    sum += target;
    square += target * target;
    count += 1;
  }
  if (count == 0) return;
  // An exponential mean that is divided by the weight it has gathered has no memory of its start.
  state_.weight += rate_ * (1 - state_.weight);
  const double rate = rate_ / state_.weight;
  state_.mean += rate * (sum / count - state_.mean);
  state_.mean_square += rate * (square / count - state_.mean_square);
  set_moments();
}

void ValueNormaliser::restore(const State& state) {
  state_ = state;
  set_moments();
}

void ValueNormaliser::set_moments() {
  mean_ = state_.mean;
  deviation_ = std::max(kMinDeviation,
                        std::sqrt(std::max(0.0, state_.mean_square - state_.mean * state_.mean)));
}

}  // namespace pacml::learner
