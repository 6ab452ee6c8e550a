#include "model/value_heads.h"

#include "common/check.h"
#include "model/duelling.h"
#include "model/network_constants.h"

namespace pacml::model {

void action_values(ValueHeads heads, std::span<const float> logits, std::span<const float> values,
                   std::span<const std::uint8_t> masks, std::size_t actions, std::span<float> q) {
  PACML_CHECK(heads != ValueHeads::kValue, "preferences are no values");
  if (heads == ValueHeads::kDuelling) return duelling_q_values(logits, values, masks, actions, q);
  PACML_CHECK(logits.size() == values.size() * actions && masks.size() == logits.size() &&
                  q.size() == logits.size(),
              "one row of logits, masks and results for each value");
  for (std::size_t i = 0; i < q.size(); ++i) {
    q[i] = masks[i] != 0 ? logits[i] + values[i / actions] : kMaskedLogit;
  }
}

void action_value_gradients(ValueHeads heads, std::span<const std::uint8_t> masks,
                            std::size_t actions, std::span<const std::int32_t> chosen,
                            std::span<const float> q_gradients, std::span<float> logit_gradients,
                            std::span<float> value_gradients) {
  PACML_CHECK(heads != ValueHeads::kValue, "preferences are no values");
  if (heads == ValueHeads::kDuelling) {
    return duelling_gradients(masks, actions, chosen, q_gradients, logit_gradients,
                              value_gradients);
  }
  PACML_CHECK(chosen.size() == q_gradients.size() && masks.size() == chosen.size() * actions &&
                  logit_gradients.size() == masks.size(),
              "one row of masks and gradients for each choice");
  for (std::size_t b = 0; b < chosen.size(); ++b) {
    const std::size_t place = b * actions + static_cast<std::size_t>(chosen[b]);
    PACML_CHECK(masks[place] != 0, "a valid action");
    logit_gradients[place] += q_gradients[b];
  }
}

}  // namespace pacml::model
