#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/ids.h"
#include "env/graph_features.h"
#include "model/network_config.h"

namespace pacml::learner {

// Every graph that experience has named, in the order of their arrival: a graph's index never
// changes. Thread-confined.
class GraphRegistry {
 public:
  // The graph's index; adding one that is there changes nothing. Pre: no more than a row's index
  // can name (PACML_CHECK); peers list far fewer.
  std::int32_t add(env::GraphFeaturesPtr graph);
  // Adds those that a network of `shape` can read in one of its slots; others are left out, and
  // with them all experience that names them. Whether any is new.
  bool add_readable(std::span<const env::GraphFeaturesPtr> graphs,
                    const model::NetworkShape& shape);
  // -1: not here.
  [[nodiscard]] std::int32_t find(GraphHash hash) const;
  // The index of each. Pre: all are here (PACML_CHECK).
  [[nodiscard]] std::vector<std::uint16_t> indices(std::span<const GraphHash> hashes) const;
  // Those of `hashes` that are not here, in order: what to ask a peer for.
  [[nodiscard]] std::vector<GraphHash> missing(std::span<const GraphHash> hashes) const;
  [[nodiscard]] std::span<const env::GraphFeaturesPtr> graphs() const { return graphs_; }

 private:
  std::vector<env::GraphFeaturesPtr> graphs_;
  std::unordered_map<GraphHash, std::int32_t> index_;
};

}  // namespace pacml::learner
