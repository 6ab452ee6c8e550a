#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "env/graph_features.h"
#include "model/aligned.h"
#include "model/kernels/kernel.h"

namespace pacml::model {

// A graph as the kernels read it, whatever the weights: features normalised and padded, edges
// sorted by destination. Immutable.
class PreparedGraph {
 public:
  // Pre: at least one node, arrays as long as the counts say, edges between nodes (PACML_CHECK).
  explicit PreparedGraph(const env::GraphFeatures& graph);

  // Borrowed from this object.
  [[nodiscard]] PackedGraph packed() const;
  [[nodiscard]] std::size_t nodes() const { return first_edge_.size() - 1; }
  [[nodiscard]] std::size_t edges() const { return edge_src_.size(); }

 private:
  AlignedFloats node_inputs_;             // [nodes, padded width]
  AlignedFloats edge_inputs_;             // [edges, padded width]
  std::vector<std::int32_t> first_edge_;  // [nodes + 1]
  std::vector<std::int32_t> edge_src_;    // [edges]
};

}  // namespace pacml::model
