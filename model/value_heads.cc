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

}  // namespace pacml::model
