#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "env/graph/job_graph.h"

namespace pacml::env {

// How many pieces the partitioning rule cuts an op of `cost` into when the agent allows `degree`:
// max(1, min(2 ceil(ceil(cost / quantum) / 2), degree)). Times in the profile's unit. Pure.
[[nodiscard]] int pieces_of(double cost, double quantum, int degree);

// What a job graph takes that is cut so, up to a constant of a few kilobytes; without making it.
[[nodiscard]] std::size_t partitioned_bytes(const JobGraph& graph, int degree, double quantum);

// How a partitioned graph's dependency sizes are set.
enum class DependencyBytes {
  kMemory,      // as published: activation + parameters, of whichever end was not cut last
  kActivation,  // the producer's activation, divided by the pieces at both ends
};

// A job graph whose ops are cut into pieces. Op order: ops that were not cut, in graph order, then
// pieces in order of creation; dependency order: for each op its successors in the order in which
// they were connected, so the out-dependencies of an op are one contiguous range. Every order is
// significant: priorities, ties and floating-point sums follow it. Immutable; shared by every
// environment.
class PartitionedGraph {
 public:
  // `degree` >= 1 bounds the pieces per op, `quantum` is the shortest piece worth cutting (profile
  // time), `time_scale` converts the profile's time to simulated time.
  PartitionedGraph(JobGraphPtr graph, int degree, double quantum, double time_scale,
                   DependencyBytes bytes);

  // The dependencies that take one time together, and how it is found (see communication.h).
  enum class GroupKind : std::uint8_t {
    kOneToOne,    // each dependency for itself
    kCollective,  // a collective when sources and destinations are the same servers, else
                  // one-to-one
    kSyncPairs,   // consecutive pairs (there and back) between siblings, each a collective of its
                  // own
  };
  struct Group {
    GroupKind kind = GroupKind::kOneToOne;
    std::span<const std::int32_t> dependencies;
  };

  [[nodiscard]] const JobGraph& graph() const { return *graph_; }
  [[nodiscard]] const JobGraphPtr& graph_ptr() const { return graph_; }
  // Largest number of pieces of an op; at most the degree that was asked for.
  [[nodiscard]] int degree() const { return degree_; }
  [[nodiscard]] int pieces(OpIndex forward) const {
    return pieces_[static_cast<std::size_t>(forward)];
  }
  // Piece 0 of a forward op, or of its backward counterpart; piece j is j further.
  [[nodiscard]] OpIndex forward_piece(OpIndex forward) const {
    return forward_base_[static_cast<std::size_t>(forward)];
  }
  [[nodiscard]] OpIndex backward_piece(OpIndex forward) const {
    return backward_base_[static_cast<std::size_t>(forward)];
  }

  [[nodiscard]] int num_ops() const { return static_cast<int>(compute_.size()); }
  [[nodiscard]] int num_dependencies() const { return static_cast<int>(src_.size()); }

  // Per op.
  [[nodiscard]] std::span<const double> compute() const { return compute_; }  // simulated time
  [[nodiscard]] std::span<const double> memory() const { return memory_; }    // bytes
  // Out-dependencies of op i are [out_begin()[i], out_begin()[i + 1]).
  [[nodiscard]] std::span<const std::int32_t> out_begin() const { return out_begin_; }
  [[nodiscard]] std::span<const std::int32_t> num_parents() const {
    return num_parents_;
  }  // without sync
  [[nodiscard]] std::span<const OpIndex> sources() const {
    return sources_;
  }  // no in-dependencies at all

  // Per dependency, in dependency order.
  [[nodiscard]] std::span<const OpIndex> src() const { return src_; }
  [[nodiscard]] std::span<const OpIndex> dst() const { return dst_; }
  [[nodiscard]] std::span<const double> bytes() const { return bytes_; }
  // 1 where the reverse dependency exists as well.
  [[nodiscard]] std::span<const std::uint8_t> is_sync() const { return is_sync_; }

  [[nodiscard]] std::span<const Group> groups() const { return groups_; }

  // Sums in op and dependency order.
  [[nodiscard]] double total_compute() const { return total_compute_; }  // simulated time, one step
  [[nodiscard]] double total_memory() const { return total_memory_; }
  [[nodiscard]] double total_dependency_bytes() const { return total_dependency_bytes_; }

  PartitionedGraph(const PartitionedGraph&) = delete;  // groups_ points into group_items_
  PartitionedGraph& operator=(const PartitionedGraph&) = delete;
  PartitionedGraph(PartitionedGraph&&) = delete;
  PartitionedGraph& operator=(PartitionedGraph&&) = delete;
  ~PartitionedGraph() = default;

 private:
  class Builder;
  void group_dependencies(const std::vector<std::vector<std::int32_t>>& in_order);

  JobGraphPtr graph_;
  int degree_ = 1;
  std::vector<int> pieces_;
  std::vector<OpIndex> forward_base_, backward_base_;
  std::vector<double> compute_, memory_;
  std::vector<std::int32_t> out_begin_, num_parents_;
  std::vector<OpIndex> sources_;
  std::vector<OpIndex> src_, dst_;
  std::vector<double> bytes_;
  std::vector<std::uint8_t> is_sync_;
  std::vector<std::int32_t> reverse_;  // of a sync dependency; -1 otherwise
  std::vector<std::int32_t> group_items_;
  std::vector<Group> groups_;
  double total_compute_ = 0, total_memory_ = 0, total_dependency_bytes_ = 0;
};

using PartitionedGraphPtr = std::shared_ptr<const PartitionedGraph>;

}  // namespace pacml::env
