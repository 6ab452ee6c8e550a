#include "learner/losses/policy_gradient.h"

#include <cstddef>

#include "common/check.h"

namespace pacml::learner {

double policy_gradient_loss(const MaskedCategorical& policy, std::span<const std::int32_t> actions,
                            std::span<const float> advantages, std::span<const float> weights,
                            std::span<float> logit_gradients) {
  const std::size_t width = policy.actions;
  PACML_CHECK(actions.size() == policy.size() && advantages.size() == policy.size() &&
                  weights.size() == policy.size() &&
                  logit_gradients.size() == policy.size() * width,
              "the loss has one action, advantage and weight per decision");
  double loss = 0;
  for (std::size_t n = 0; n < policy.size(); ++n) {
    const auto action = static_cast<std::size_t>(actions[n]);
    PACML_CHECK(action < width, "actions lie in the action space");
    const float scale = weights[n] * advantages[n];
    loss -= static_cast<double>(scale) * static_cast<double>(policy.log_probs[n * width + action]);
    // Invalid actions have probability 0, so their logits get none.
    for (std::size_t a = 0; a < width; ++a) {
      logit_gradients[n * width + a] += scale * policy.probs[n * width + a];
    }
    logit_gradients[n * width + action] -= scale;
  }
  return loss;
}

}  // namespace pacml::learner
