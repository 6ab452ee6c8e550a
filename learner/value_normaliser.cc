#include "learner/value_normaliser.h"

#include <algorithm>
#include <cmath>

#include "common/check.h"

namespace pacml::learner {
namespace {

// Keeps the head's weights within float32 when targets hardly differ.
constexpr double kMinDeviation = 1e-4;

}  // namespace

void ValueNormaliser::start(const TargetSums& targets) {
  PACML_CHECK(!started(), "only the first batch starts the moments");
  take_in(targets);
}

ValueNormaliser::Change ValueNormaliser::update(const TargetSums& targets) {
  const double old_mean = mean_;
  const double old_deviation = deviation_;
  take_in(targets);
  return {old_deviation / deviation_, (old_mean - mean_) / deviation_};
}

void ValueNormaliser::take_in(const TargetSums& targets) {
  // What is not finite would stay in the moments for ever.
  if (targets.count == 0 || !std::isfinite(targets.sum) || !std::isfinite(targets.square)) return;
  // An exponential mean that is divided by the weight it has gathered has no memory of its start.
  state_.weight += rate_ * (1 - state_.weight);
  const double rate = rate_ / state_.weight;
  state_.mean += rate * (targets.sum / targets.count - state_.mean);
  state_.mean_square += rate * (targets.square / targets.count - state_.mean_square);
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
