#pragma once

#include "common/wire/messages.h"
#include "env/graph_features.h"

// Graphs as they cross the wire. Pure.
namespace pacml::env {

[[nodiscard]] wire::Graph to_message(const GraphFeatures& graph);
// Its hash is computed anew: what a peer says of it is not believed.
[[nodiscard]] GraphFeaturesPtr from_message(const wire::Graph& message);

}  // namespace pacml::env
