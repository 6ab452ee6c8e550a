#include "learner/losses/entropy.h"

#include <cmath>
#include <cstddef>

#include "common/check.h"

namespace pacml::learner {

double entropy_loss(const MaskedCategorical& policy, bool normalised, double cost,
                    std::span<const float> weights, std::span<float> logit_gradients) {
  const std::size_t width = policy.actions;
  PACML_CHECK(weights.size() == policy.size() && logit_gradients.size() == policy.size() * width,
              "the loss has one weight per decision");
  double loss = 0;
  for (std::size_t n = 0; n < policy.size(); ++n) {
    if (policy.valid[n] < 2) continue;
    const float entropy = policy.entropies[n];
    const double unit = normalised ? std::log(static_cast<double>(policy.valid[n])) : 1.0;
    const auto scale = static_cast<float>(cost * weights[n] / unit);
    loss -= static_cast<double>(scale) * static_cast<double>(entropy);
    // Invalid actions have probability 0, so their logits get none.
    for (std::size_t a = 0; a < width; ++a) {
      const std::size_t i = n * width + a;
      logit_gradients[i] += scale * policy.probs[i] * (policy.log_probs[i] + entropy);
    }
  }
  return loss;
}

RelativeEntropy relative_entropy(const MaskedCategorical& policy) {
  RelativeEntropy out;
  for (std::size_t n = 0; n < policy.size(); ++n) {
    if (policy.valid[n] < 2) continue;
    out.sum += policy.entropies[n] / std::log(static_cast<double>(policy.valid[n]));
    out.choices += 1;
  }
  return out;
}

}  // namespace pacml::learner
