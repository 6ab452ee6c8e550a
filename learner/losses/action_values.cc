#include "learner/losses/action_values.h"

#include "common/check.h"

namespace pacml::learner {

ActionValueLoss& ActionValueLoss::operator+=(const ActionValueLoss& other) {
  advantages += other.advantages;
  level += other.level;
  squared_errors += other.squared_errors;
  squared_targets += other.squared_targets;
  agreed += other.agreed;
  return *this;
}

ActionValueLoss action_value_loss(std::span<const float> logits, std::span<const float> values,
                                  std::span<const std::uint8_t> masks, std::size_t actions,
                                  std::span<const float> targets, double level_cost,
                                  std::span<const float> weights,
                                  std::span<float> logit_gradients) {
  const std::size_t size = values.size();
  PACML_CHECK(logits.size() == size * actions && masks.size() == logits.size() &&
                  logit_gradients.size() == logits.size() && weights.size() == size,
              "outputs, masks, weights and gradients of the same decisions");
  ActionValueLoss out;
  for (std::size_t n = 0; n < size; ++n) {
    const std::size_t row = n * actions;
    double logit_sum = 0;
    double target_sum = 0;
    std::size_t count = 0;
    for (std::size_t a = 0; a < actions; ++a) {
      if (masks[row + a] == 0) continue;
      PACML_CHECK(count < targets.size(), "a target for each valid action");
      logit_sum += logits[row + a];
      target_sum += targets[count++];
    }
    PACML_CHECK(count > 0, "a decision has a valid action");
    const double logit_mean = logit_sum / static_cast<double>(count);
    const double target_mean = target_sum / static_cast<double>(count);
    const double level_error = values[n] + logit_mean - target_mean;
    const double slope = level_cost * level_error / static_cast<double>(count);
    std::size_t k = 0;
    std::size_t best_logit = 0;
    std::size_t best_target = 0;
    std::size_t best_action = 0;
    for (std::size_t a = 0; a < actions; ++a) {
      if (masks[row + a] == 0) continue;
      const double target = targets[k] - target_mean;
      const double error = logits[row + a] - logit_mean - target;
      logit_gradients[row + a] += static_cast<float>(weights[n] * (error + slope));
      out.advantages += weights[n] * error * error / 2;
      out.squared_errors += error * error;
      out.squared_targets += target * target;
      if (k == 0 || logits[row + a] > logits[row + best_action]) {
        best_action = a;
        best_logit = k;
      }
      if (targets[k] > targets[best_target]) best_target = k;
      ++k;
    }
    out.agreed += best_logit == best_target ? 1 : 0;
    out.level += weights[n] * level_cost * level_error * level_error / 2;
    targets = targets.subspan(count);
  }
  PACML_CHECK(targets.empty(), "a target belongs to no action");
  return out;
}

}  // namespace pacml::learner
