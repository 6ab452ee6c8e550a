#include "env/graph_features.h"

#include <bit>
#include <cstdint>
#include <span>

#include "common/rng.h"

namespace pacml::env {
namespace {

// Folds 32-bit values in order. The length goes first, so that moving a value from the end of one
// array to the start of the next changes the hash.
template <class T>
std::uint64_t fold(std::uint64_t hash, std::span<const T> values) {
  static_assert(sizeof(T) == sizeof(std::uint32_t));
  hash = hash_combine(hash, values.size());
  for (const T value : values) hash = hash_combine(hash, std::bit_cast<std::uint32_t>(value));
  return hash;
}

std::uint64_t fold(std::uint64_t hash, int value) {
  return hash_combine(hash, static_cast<std::uint32_t>(value));
}

}  // namespace

GraphHash hash_features(const GraphFeatures& graph) {
  std::uint64_t hash = 0;
  hash = fold(hash, graph.num_nodes);
  hash = fold(hash, graph.num_edges);
  hash = fold(hash, graph.node_width);
  hash = fold(hash, graph.edge_width);
  hash = fold<float>(hash, graph.node_features);
  hash = fold<float>(hash, graph.edge_features);
  hash = fold<std::int32_t>(hash, graph.edge_src);
  hash = fold<std::int32_t>(hash, graph.edge_dst);
  return GraphHash{hash};
}

}  // namespace pacml::env
