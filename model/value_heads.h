#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/config/fields.h"

namespace pacml::model {

// Which heads of a network say something in the unit of values.
enum class ValueHeads {
  kValue,     // the value alone, of the state as its policy goes on; logits are preferences
  kDuelling,  // logits, too: they are advantages, and the best action's Q is what the state is
              // worth (model/duelling.h)
  kActions,   // the sum of value and logit is the action's Q, the best action's what the state is
              // worth; the value is the same for all states, so that what logits learn of one
              // action against another holds for one state against another
};
constexpr auto enum_names(ValueHeads) {
  return std::to_array<EnumName<ValueHeads>>({{"value", ValueHeads::kValue},
                                              {"duelling", ValueHeads::kDuelling},
                                              {"actions", ValueHeads::kActions}});
}

// Q of every valid action by such heads, not kValue (PACML_CHECK), into `q` [B, A], kMaskedLogit
// for others: as duelling_q_values(), which it is for kDuelling. Pure but for `q`.
void action_values(ValueHeads heads, std::span<const float> logits, std::span<const float> values,
                   std::span<const std::uint8_t> masks, std::size_t actions, std::span<float> q);

// The gradient of a loss that depends on one action value per row: given `q_gradients` [B] =
// dL/dQ(s_b, chosen_b), adds to `logit_gradients` [B, A] and `value_gradients` [B]: as
// duelling_gradients(), which it is for kDuelling. By kActions the value is held, and all of it is
// the logits' to learn. Pre: not kValue, chosen actions are valid (PACML_CHECK).
void action_value_gradients(ValueHeads heads, std::span<const std::uint8_t> masks,
                            std::size_t actions, std::span<const std::int32_t> chosen,
                            std::span<const float> q_gradients, std::span<float> logit_gradients,
                            std::span<float> value_gradients);

}  // namespace pacml::model
