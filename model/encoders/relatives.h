#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "env/graph_features.h"
#include "model/encoders/graph_encoder.h"

namespace pacml::model {

// Nodes of a graph by what they are to one of them, each in ascending order. That node itself is in
// none; in a graph with cycles others may be both above and below.
struct Relatives {
  std::vector<std::int32_t> ancestors;    // from which it is reached
  std::vector<std::int32_t> descendants;  // that are reached from it
  std::vector<std::int32_t> others;
  // Memory of the search that finds them.
  std::vector<std::uint8_t> above, below;  // as 0 and 1, [nodes]; the node too
  std::vector<std::int32_t> open;
  // Pre: not kAll, which depends on nobody (PACML_CHECK).
  [[nodiscard]] const std::vector<std::int32_t>& in(NodeSet set) const&;
  void in(NodeSet set) && = delete;
};

// Who is above and below whom in a graph. Immutable.
class Ancestry {
 public:
  explicit Ancestry(const env::GraphFeatures& graph);
  // O(nodes + edges). Pre: the graph has this node (PACML_CHECK).
  [[nodiscard]] Relatives of(std::size_t node) const;
  // The same in memory that has been used, which grows to what the largest graph takes.
  void find(std::size_t node, Relatives& out) const;

 private:
  // Of each node v: neighbours other[first[v]] ... other[first[v + 1] - 1].
  struct Neighbours {
    std::vector<std::int32_t> first, other;
  };
  [[nodiscard]] static Neighbours neighbours(const std::vector<std::int32_t>& from,
                                             const std::vector<std::int32_t>& to,
                                             std::size_t nodes);
  static void reach(const Neighbours& neighbours, std::size_t node, std::vector<std::int32_t>& open,
                    std::vector<std::uint8_t>& seen);

  Neighbours parents_, children_;
};

}  // namespace pacml::model
