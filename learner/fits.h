#pragma once

#include "common/experience/sequences.h"
#include "common/experience/transitions.h"
#include "common/result.h"
#include "learner/graph_registry.h"
#include "model/network_config.h"

namespace pacml::learner {

// Whether a peer's experience is for this network: widths, and no graph that is unknown.
// kVersionMismatch with a sentence. Pre: its validate() held. Pure.
[[nodiscard]] Result<void> fits(const Sequences& sequences, const model::NetworkShape& shape,
                                const GraphRegistry& graphs);
[[nodiscard]] Result<void> fits(const Transitions& transitions, const model::NetworkShape& shape,
                                const GraphRegistry& graphs);

}  // namespace pacml::learner
