#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/placement/op_graph.h"

namespace pacml::env {

// What a group is as a whole.
struct GroupAttributes {
  double cost_us = 0;       // of all its operations
  double out_bytes = 0;     // of the outputs that leave it; where it is one operation, all of them
  double memory_bytes = 0;  // of all its outputs, or what its operations say
};

// Groups of operations as nodes: those that one decision places. There is an edge from a to b where
// an operation of a feeds one of b, and a's leader comes first in the graph's topological order:
// so it has no cycle even where each group is a layer's forward and backward pass. Immutable.
class GroupGraph {
 public:
  // `semantics`: which outputs leave a group.
  GroupGraph(const OpGraph& graph, PlacementSemantics semantics);

  [[nodiscard]] std::size_t size() const { return children_.size(); }
  [[nodiscard]] const IndexLists& children() const { return children_; }
  [[nodiscard]] const IndexLists& parents() const { return parents_; }
  [[nodiscard]] std::span<const GroupAttributes> attributes() const { return attributes_; }

 private:
  IndexLists children_;  // in the order in which the graph's edges name them
  IndexLists parents_;
  std::vector<GroupAttributes> attributes_;
};

// Which nodes can be reached from which, as bits: n^2 / 8 bytes. Immutable.
class Reachability {
 public:
  explicit Reachability(const IndexLists& children);
  // Pre: the graph has no cycle.
  [[nodiscard]] bool reaches(std::size_t from, std::size_t to) const {
    return ((bits_[from * words_ + to / 64] >> (to % 64)) & 1U) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace pacml::env
