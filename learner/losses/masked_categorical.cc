#include "learner/losses/masked_categorical.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/check.h"

namespace pacml::learner {

void masked_categorical(std::span<const float> logits, std::span<const std::uint8_t> masks,
                        std::size_t actions, MaskedCategorical& out) {
  PACML_CHECK(actions > 0 && logits.size() == masks.size() && logits.size() % actions == 0,
              "logits and masks are both [N, A]");
  const std::size_t rows = logits.size() / actions;
  out.actions = actions;
  out.log_probs.assign(logits.size(), 0.0F);
  out.probs.assign(logits.size(), 0.0F);
  out.entropies.resize(rows);
  out.valid.resize(rows);
  for (std::size_t n = 0; n < rows; ++n) {
    const float* logit = logits.data() + n * actions;
    const std::uint8_t* mask = masks.data() + n * actions;
    float* log_prob = out.log_probs.data() + n * actions;
    float* prob = out.probs.data() + n * actions;

    float largest = -std::numeric_limits<float>::infinity();
    std::int32_t valid = 0;
    for (std::size_t a = 0; a < actions; ++a) {
      if (mask[a] == 0) continue;
      largest = std::max(largest, logit[a]);
      ++valid;
    }
    PACML_CHECK(valid > 0, "every decision has a valid action");
    float sum = 0;
    for (std::size_t a = 0; a < actions; ++a) {
      if (mask[a] == 0) continue;
      prob[a] = std::exp(logit[a] - largest);
      sum += prob[a];
    }
    const float log_sum = std::log(sum);
    const float scale = 1.0F / sum;
    float entropy = 0;
    for (std::size_t a = 0; a < actions; ++a) {
      if (mask[a] == 0) continue;
      prob[a] *= scale;
      // Finite, so that 0 * log 0 is 0.
      log_prob[a] = std::max(logit[a] - largest - log_sum, std::numeric_limits<float>::lowest());
      entropy -= prob[a] * log_prob[a];
    }
    out.entropies[n] = entropy;
    out.valid[n] = valid;
  }
}

}  // namespace pacml::learner
