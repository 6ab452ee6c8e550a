#include "model/duelling.h"

#include <cmath>

#include "common/check.h"
#include "model/network_constants.h"

namespace pacml::model {
namespace {

std::size_t count_valid(std::span<const std::uint8_t> mask) {
  std::size_t valid = 0;
  for (const std::uint8_t bit : mask) valid += bit != 0 ? 1 : 0;
  PACML_CHECK(valid > 0, "a state without a valid action");
  return valid;
}

}  // namespace

void duelling_q_values(std::span<const float> logits, std::span<const float> values,
                       std::span<const std::uint8_t> masks, std::size_t actions,
                       std::span<float> q) {
  const std::size_t size = values.size() * actions;
  PACML_CHECK(logits.size() == size && masks.size() == size && q.size() == size,
              "one advantage, mask and action value per state and action");
  for (std::size_t b = 0; b < values.size(); ++b) {
    const auto advantages = logits.subspan(b * actions, actions);
    const auto mask = masks.subspan(b * actions, actions);
    double sum = 0;
    for (std::size_t a = 0; a < actions; ++a) {
      if (mask[a] != 0) sum += advantages[a];
    }
    const double offset = values[b] - sum / static_cast<double>(count_valid(mask));
    for (std::size_t a = 0; a < actions; ++a) {
      q[b * actions + a] = mask[a] != 0 ? static_cast<float>(advantages[a] + offset) : kMaskedLogit;
    }
  }
}

void duelling_gradients(std::span<const std::uint8_t> masks, std::size_t actions,
                        std::span<const std::int32_t> chosen, std::span<const float> q_gradients,
                        std::span<float> logit_gradients, std::span<float> value_gradients) {
  const std::size_t rows = chosen.size();
  PACML_CHECK(masks.size() == rows * actions && q_gradients.size() == rows &&
                  logit_gradients.size() == rows * actions && value_gradients.size() == rows,
              "one gradient per state, for the action that was chosen");
  for (std::size_t b = 0; b < rows; ++b) {
    const auto mask = masks.subspan(b * actions, actions);
    const auto gradients = logit_gradients.subspan(b * actions, actions);
    const auto action = static_cast<std::size_t>(chosen[b]);
    PACML_CHECK(action < actions && mask[action] != 0, "the chosen action is valid");
    const float share = q_gradients[b] / static_cast<float>(count_valid(mask));
    for (std::size_t a = 0; a < actions; ++a) {
      if (mask[a] != 0) gradients[a] -= share;
    }
    gradients[action] += q_gradients[b];
    value_gradients[b] += q_gradients[b];
  }
}

int best_valid_action(std::span<const float> q_row) {
  std::size_t best = q_row.size();
  for (std::size_t a = 0; a < q_row.size(); ++a) {
    if (q_row[a] == kMaskedLogit) continue;
    const bool better = best == q_row.size() || q_row[a] > q_row[best] ||
                        (std::isnan(q_row[best]) && !std::isnan(q_row[a]));
    if (better) best = a;
  }
  PACML_CHECK(best < q_row.size(), "a state without a valid action");
  return static_cast<int>(best);
}

}  // namespace pacml::model
