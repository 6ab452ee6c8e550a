#include "env/graph_features.h"

#include "common/wire/graph_hash.h"

namespace pacml::env {

GraphHash hash_features(const GraphFeatures& graph) { return wire::hash_graph(graph); }

}  // namespace pacml::env
