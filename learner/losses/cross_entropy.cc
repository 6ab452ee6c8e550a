#include "learner/losses/cross_entropy.h"

#include <cstddef>

#include "common/check.h"

namespace pacml::learner {

double cross_entropy_loss(const MaskedCategorical& policy, std::span<const std::uint8_t> masks,
                          std::span<const std::int32_t> actions, double probability,
                          std::span<const float> weights, std::span<float> logit_gradients) {
  const std::size_t width = policy.actions;
  PACML_CHECK(actions.size() == policy.size() && weights.size() == policy.size() &&
                  masks.size() == policy.size() * width && logit_gradients.size() == masks.size(),
              "the loss has one action and one weight per decision");
  PACML_CHECK(probability > 0 && probability <= 1, "a probability");
  double loss = 0;
  for (std::size_t n = 0; n < policy.size(); ++n) {
    const auto given = static_cast<std::size_t>(actions[n]);
    PACML_CHECK(actions[n] >= 0 && given < width && masks[n * width + given] == 1,
                "the given action is valid");
    if (policy.valid[n] < 2) continue;  // log 1
    const double other = (1 - probability) / (policy.valid[n] - 1);
    for (std::size_t a = 0; a < width; ++a) {
      const std::size_t i = n * width + a;
      if (masks[i] == 0) continue;
      const double target = a == given ? probability : other;
      loss -= weights[n] * target * policy.log_probs[i];
      logit_gradients[i] += static_cast<float>(weights[n] * (policy.probs[i] - target));
    }
  }
  return loss;
}

}  // namespace pacml::learner
