#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pacml::learner {

// A batch of categorical distributions over the valid actions: softmax of the logits where the mask
// is 1, probability 0 elsewhere. Owned columns.
struct MaskedCategorical {
  std::size_t actions = 0;       // A
  std::vector<float> log_probs;  // row-major [N, A]; 0 for invalid actions, whose probability is 0
  std::vector<float> probs;      // row-major [N, A]
  std::vector<float> entropies;  // [N], nats, over the valid actions
  std::vector<std::int32_t> valid;  // [N], how many actions were valid

  [[nodiscard]] std::size_t size() const { return valid.size(); }
};

// `logits` and `masks` row-major [N, A]; each row has a valid action (PACML_CHECK). Resizes `out`,
// which may be used again. Pure.
void masked_categorical(std::span<const float> logits, std::span<const std::uint8_t> masks,
                        std::size_t actions, MaskedCategorical& out);

}  // namespace pacml::learner
