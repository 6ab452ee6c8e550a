#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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

// Q of every valid action by such heads, not kValue (PACML_CHECK), into `q` [B, A], kMaskedLogit
// for others: as duelling_q_values(), which it is for kDuelling. Pure but for `q`.
void action_values(ValueHeads heads, std::span<const float> logits, std::span<const float> values,
                   std::span<const std::uint8_t> masks, std::size_t actions, std::span<float> q);

}  // namespace pacml::model
