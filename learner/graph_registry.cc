#include "learner/graph_registry.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "common/check.h"

namespace pacml::learner {

std::int32_t GraphRegistry::add(env::GraphFeaturesPtr graph) {
  const auto next = static_cast<std::int32_t>(graphs_.size());
  const auto [place, added] = index_.try_emplace(graph->hash, next);
  if (!added) return place->second;
  PACML_CHECK(next <= std::numeric_limits<std::uint16_t>::max(), "more graphs than rows can name");
  graphs_.push_back(std::move(graph));
  return next;
}

bool GraphRegistry::add_readable(std::span<const env::GraphFeaturesPtr> graphs,
                                 const model::NetworkShape& shape) {
  const std::size_t known = graphs_.size();
  for (const auto& graph : graphs) {
    bool readable = false;
    for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
      readable = readable || model::reads(shape, slot, *graph);
    }
    if (readable) add(graph);
  }
  return graphs_.size() != known;
}

std::int32_t GraphRegistry::find(GraphHash hash) const {
  const auto place = index_.find(hash);
  return place == index_.end() ? -1 : place->second;
}

std::vector<std::uint16_t> GraphRegistry::indices(std::span<const GraphHash> hashes) const {
  std::vector<std::uint16_t> out;
  for (const GraphHash hash : hashes) {
    const std::int32_t index = find(hash);
    PACML_CHECK(index >= 0, "experience names graphs of the registry");
    out.push_back(static_cast<std::uint16_t>(index));
  }
  return out;
}

std::vector<GraphHash> GraphRegistry::missing(std::span<const GraphHash> hashes) const {
  std::vector<GraphHash> out;
  std::ranges::copy_if(hashes, std::back_inserter(out),
                       [this](GraphHash hash) { return find(hash) < 0; });
  return out;
}

}  // namespace pacml::learner
