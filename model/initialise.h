#pragma once

#include "common/ids.h"
#include "model/network_config.h"
#include "model/parameters.h"

namespace pacml::model {

// Weights to start training from: version 0, a pure function of (shape, seed), the same on every
// machine.
//  - Linear layers: weights and biases uniform in +-1/sqrt(inputs), torch's default.
//  - Norms: weight 1, bias 0.
//  - The two heads, logits and value: as above, times 0.01. The first policy is then close to
//    uniform over the valid actions, so that exploration does not depend on the seed, and the first
//    values are close to 0, so that they do not drown the first returns.
// Each entry draws from a stream of its own, named by (seed, kInitialise, its place in the layout).
[[nodiscard]] Parameters initialise(const NetworkShape& shape, Seed seed);

}  // namespace pacml::model
