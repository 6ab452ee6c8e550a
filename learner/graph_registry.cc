#include "learner/graph_registry.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pacml::learner {

std::int32_t GraphRegistry::add(env::GraphFeaturesPtr graph) {
  const auto next = static_cast<std::int32_t>(graphs_.size());
  const auto [place, added] = index_.try_emplace(graph->hash, next);
  if (added) graphs_.push_back(std::move(graph));
  return place->second;
}

std::int32_t GraphRegistry::find(GraphHash hash) const {
  const auto place = index_.find(hash);
  return place == index_.end() ? -1 : place->second;
}

std::vector<GraphHash> GraphRegistry::missing(std::span<const GraphHash> hashes) const {
  std::vector<GraphHash> out;
  std::ranges::copy_if(hashes, std::back_inserter(out),
                       [this](GraphHash hash) { return find(hash) < 0; });
  return out;
}

}  // namespace pacml::learner
