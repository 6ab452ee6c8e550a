#include "learner/losses/clipped_surrogate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/check.h"

namespace pacml::learner {

double clipped_surrogate_loss(const MaskedCategorical& policy,
                              std::span<const std::int32_t> actions,
                              std::span<const float> behaviour_log_probs,
                              std::span<const float> advantages, double clip,
                              std::span<const float> weights, std::span<float> logit_gradients) {
  constexpr double kMostLogRatio = 20;
  const std::size_t width = policy.actions;
  PACML_CHECK(actions.size() == policy.size() && behaviour_log_probs.size() == policy.size() &&
                  advantages.size() == policy.size() && weights.size() == policy.size() &&
                  logit_gradients.size() == policy.size() * width,
              "the loss has one action, advantage and weight per decision");
  double loss = 0;
  for (std::size_t n = 0; n < policy.size(); ++n) {
    const auto action = static_cast<std::size_t>(actions[n]);
    PACML_CHECK(action < width, "actions lie in the action space");
    const double log_ratio =
        double{policy.log_probs[n * width + action]} - double{behaviour_log_probs[n]};
    const double ratio = std::exp(std::clamp(log_ratio, -kMostLogRatio, kMostLogRatio));
    const double advantage = advantages[n];
    const double free = ratio * advantage;
    const double clipped = std::clamp(ratio, 1 - clip, 1 + clip) * advantage;
    loss -= weights[n] * std::min(free, clipped);
    if (clipped < free || std::abs(log_ratio) > kMostLogRatio) continue;
    // d ratio / d logit_j = ratio (1[j = action] - pi_j)
    const auto scale = static_cast<float>(weights[n] * free);
    for (std::size_t a = 0; a < width; ++a) {
      logit_gradients[n * width + a] += scale * policy.probs[n * width + a];
    }
    logit_gradients[n * width + action] -= scale;
  }
  return loss;
}

}  // namespace pacml::learner
