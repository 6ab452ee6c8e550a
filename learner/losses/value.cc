#include "learner/losses/value.h"

#include <cstddef>

#include "common/check.h"

namespace pacml::learner {

double value_loss(std::span<const float> values, std::span<const float> targets, double cost,
                  std::span<const float> weights, std::span<float> value_gradients) {
  PACML_CHECK(targets.size() == values.size() && weights.size() == values.size() &&
                  value_gradients.size() == values.size(),
              "the loss has one target and weight per value");
  double loss = 0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const float error = values[n] - targets[n];
    const double slope = cost * weights[n] * error;
    value_gradients[n] += static_cast<float>(slope);
    loss += 0.5 * slope * error;
  }
  return loss;
}

}  // namespace pacml::learner
