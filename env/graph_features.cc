#include "env/graph_features.h"

#include <array>
#include <cstdint>
#include <span>

#include "common/hash.h"

namespace pacml::env {

GraphHash hash_features(const GraphFeatures& graph) {
  const std::array<std::int32_t, 4> sizes{graph.num_nodes, graph.num_edges, graph.node_width,
                                          graph.edge_width};
  std::uint64_t hash = content_hash(std::span<const std::int32_t>(sizes));
  hash = content_hash(std::span<const float>(graph.node_features), hash);
  hash = content_hash(std::span<const float>(graph.edge_features), hash);
  hash = content_hash(std::span<const std::int32_t>(graph.edge_src), hash);
  hash = content_hash(std::span<const std::int32_t>(graph.edge_dst), hash);
  return GraphHash{hash};
}

}  // namespace pacml::env
