#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/hash.h"
#include "common/ids.h"
#include "common/wire/messages.h"

namespace pacml::wire {

// Content hash over sizes, features' bits and edges; the same on every little-endian machine.
// `GraphLike`: the fields of Graph. Pure.
template <class GraphLike>
[[nodiscard]] GraphHash hash_graph(const GraphLike& graph) {
  const std::array<std::int32_t, 4> sizes{
      static_cast<std::int32_t>(graph.num_nodes), static_cast<std::int32_t>(graph.num_edges),
      static_cast<std::int32_t>(graph.node_width), static_cast<std::int32_t>(graph.edge_width)};
  std::uint64_t hash = content_hash(std::span<const std::int32_t>(sizes));
  hash = content_hash(std::span<const float>(graph.node_features), hash);
  hash = content_hash(std::span<const float>(graph.edge_features), hash);
  hash = content_hash(std::span<const std::int32_t>(graph.edge_src), hash);
  hash = content_hash(std::span<const std::int32_t>(graph.edge_dst), hash);
  return GraphHash{hash};
}

// Of its features and edges. Pure.
[[nodiscard]] inline std::size_t bytes_of(const Graph& graph) {
  return sizeof(float) * (graph.node_features.size() + graph.edge_features.size()) +
         sizeof(std::int32_t) * (graph.edge_src.size() + graph.edge_dst.size());
}

}  // namespace pacml::wire
