#include "learner/losses/huber.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/check.h"

namespace pacml::learner {

double huber_loss(std::span<const float> predictions, std::span<const float> targets, double delta,
                  std::span<const float> weights, std::span<float> gradients) {
  PACML_CHECK(targets.size() == predictions.size() && weights.size() == predictions.size() &&
                  gradients.size() == predictions.size(),
              "the loss has one target and weight per prediction");
  double loss = 0;
  for (std::size_t n = 0; n < predictions.size(); ++n) {
    const double error = static_cast<double>(predictions[n]) - targets[n];
    const double slope = std::clamp(error, -delta, delta);
    gradients[n] += static_cast<float>(weights[n] * slope);
    loss += weights[n] * slope * (error - slope / 2);  // of either branch
  }
  return loss;
}

}  // namespace pacml::learner
