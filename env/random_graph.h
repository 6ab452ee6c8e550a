#pragma once

#include "common/rng.h"
#include "env/graph_features.h"

namespace pacml::env {

// A graph of such widths for trying networks on: features uniform in [0, 1), edges between
// uniformly drawn nodes, so that loops, parallel edges and nodes without edges occur. A function of
// the generator. Pre: nodes > 0 where there are edges.
[[nodiscard]] GraphFeaturesPtr random_graph(Rng& rng, int node_width, int edge_width, int nodes,
                                            int edges);

}  // namespace pacml::env
