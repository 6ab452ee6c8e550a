#pragma once

namespace pacml::model {

// Which heads of a network say something in the unit of values.
enum class ValueHeads {
  kValue,     // the value alone, of the state as its policy goes on; logits are preferences
  kDuelling,  // logits, too: they are advantages, and the best action's Q is what the state is
              // worth (model/duelling.h)
};

}  // namespace pacml::model
