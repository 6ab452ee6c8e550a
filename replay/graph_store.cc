#include "replay/graph_store.h"

#include <utility>

#include "common/wire/graph_hash.h"

namespace pacml::replay {

bool GraphStore::add(wire::Graph graph) {
  if (wire::hash_graph(graph) != graph.hash) return false;
  if (contains(graph.hash)) return true;
  const std::size_t bytes = wire::bytes_of(graph);
  if (graphs_.size() == kMost || bytes > max_bytes_ - bytes_) return false;
  bytes_ += bytes;
  index_.emplace(graph.hash, static_cast<std::uint16_t>(graphs_.size()));
  hashes_.push_back(graph.hash);
  graphs_.push_back(std::move(graph));
  return true;
}

}  // namespace pacml::replay
