#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/placement/placement_semantics.h"

namespace pacml::env {

// An operation of a computation that is placed on devices.
struct OpSpec {
  std::string name;                  // unique; the order of names decides ties in `placeto`
  double cost_us = 0;                // >= 0, on a device of speed 1
  std::vector<double> output_bytes;  // >= 0, one entry an output
  // Operations of one group move together; empty: that of its own name.
  std::string group = {};
  std::optional<double> memory_bytes = {};  // as a feature; absent: the sum of its outputs
  // Held on its device all the time; charged in `corrected`.
  double parameter_bytes = 0;  // weights that it reads, for each byte of which more may be held
  double kept_bytes = 0;       // what it keeps besides, as it is
  bool operator==(const OpSpec&) const = default;
};

struct OpEdge {
  std::int32_t producer = 0;
  std::int32_t output = 0;  // of the producer; an index beyond its list stands for 0 bytes
  std::int32_t consumer = 0;
  bool operator==(const OpEdge&) const = default;
};

// A graph as files have it. Value type.
struct OpGraphSpec {
  std::vector<OpSpec> ops;
  std::vector<OpEdge> edges;
  bool operator==(const OpGraphSpec&) const = default;
};

// The largest graphs that are taken.
struct OpGraphLimits {
  std::size_t max_ops = 100'000;
  std::size_t max_edges = 2'000'000;
  std::size_t max_outputs = 2'000'000;  // of all operations together
};

// Lists of different lengths, one after the other. Value type.
class IndexLists {
 public:
  IndexLists() = default;
  explicit IndexLists(const std::vector<std::vector<std::int32_t>>& lists);
  [[nodiscard]] std::size_t size() const { return begin_.size() - 1; }
  [[nodiscard]] std::span<const std::int32_t> operator[](std::size_t i) const {
    return std::span(items_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }
  // Where list i begins among all items.
  [[nodiscard]] std::size_t begin_of(std::size_t i) const { return begin_[i]; }
  [[nodiscard]] std::size_t num_items() const { return items_.size(); }

 private:
  std::vector<std::size_t> begin_{0};
  std::vector<std::int32_t> items_;
};

// Nodes in an order in which each comes behind its parents; among those that are ready, the one
// that became so first (Kahn), at the beginning by index. Shorter than the list: there is a cycle.
[[nodiscard]] std::vector<std::int32_t> fifo_topological_order(const IndexLists& children);
// ... the one that became ready last. This is what networkx did up to 2.5.
[[nodiscard]] std::vector<std::int32_t> lifo_topological_order(const IndexLists& children);

// Who gets which output of whom; outputs are numbered over the whole graph. Value type.
struct OpFlows {
  // Of each operation, one entry for each output that a consumer gets, in the order in which
  // consumers (by index) first name it.
  IndexLists consumers;
  IndexLists outputs;           // parallel to it
  IndexLists output_consumers;  // of each output, in the same order
  // Of each operation, one entry for each output that it gets, by the producer's index.
  IndexLists parents;
  IndexLists parent_outputs;  // parallel to it
};

// A directed acyclic graph of operations, laid out for simulation. Immutable; any thread.
class OpGraph {
 public:
  // UserError, one sentence: nothing in it, or more than the limits; a name that comes twice; a
  // cost or a size that is not in 0 .. 1e18; an edge on an operation that is not there, or from
  // one to itself; a cycle.
  explicit OpGraph(OpGraphSpec spec, const OpGraphLimits& limits = {});

  [[nodiscard]] const OpGraphSpec& spec() const { return spec_; }
  [[nodiscard]] std::size_t num_ops() const { return spec_.ops.size(); }
  [[nodiscard]] const std::string& name(std::size_t op) const { return spec_.ops[op].name; }
  [[nodiscard]] std::span<const double> cost_us() const { return cost_us_; }
  [[nodiscard]] double total_cost_us() const { return total_cost_us_; }

  // Outputs of operation v are first_output(v) .. first_output(v + 1) - 1.
  [[nodiscard]] std::size_t num_outputs() const { return output_bytes_.size(); }
  [[nodiscard]] std::int32_t first_output(std::size_t op) const { return first_output_[op]; }
  [[nodiscard]] std::span<const double> output_bytes() const { return output_bytes_; }
  [[nodiscard]] std::span<const double> parameter_bytes() const { return parameter_bytes_; }
  [[nodiscard]] std::span<const double> kept_bytes() const { return kept_bytes_; }
  // All outputs of an operation together.
  [[nodiscard]] std::span<const double> bytes_out() const { return bytes_out_; }

  // Each consumer once, in the order in which consumers (by index) first name the operation.
  [[nodiscard]] const IndexLists& consumers() const { return last_outputs_.consumers; }
  // Each parent once, by index.
  [[nodiscard]] const IndexLists& parents() const { return last_outputs_.parents; }
  // In `placeto`, who consumes two outputs of one operation gets the one that is named last alone
  // (docs/placement.md, "Semantics: placeto"), so that the lists are those above.
  [[nodiscard]] const OpFlows& flows(PlacementSemantics semantics) const {
    const bool is_last = semantics == PlacementSemantics::kPlaceto || !every_output_;
    return is_last ? last_outputs_ : *every_output_;
  }
  [[nodiscard]] std::span<const std::int32_t> sources() const { return sources_; }  // by index
  [[nodiscard]] std::span<const std::int32_t> topological_order() const { return order_; }
  // Position of an operation's name among all names, compared byte by byte.
  [[nodiscard]] std::span<const std::int32_t> name_rank() const { return name_rank_; }

  // Groups in the order of their first operation, which leads them.
  [[nodiscard]] std::size_t num_groups() const { return groups_.size(); }
  [[nodiscard]] const IndexLists& groups() const { return groups_; }
  [[nodiscard]] std::span<const std::int32_t> group_of() const { return group_of_; }
  [[nodiscard]] const std::string& group_name(std::size_t group) const;

 private:
  void lay_out_outputs(const OpGraphLimits& limits);
  void lay_out_edges();
  void lay_out_groups();

  OpGraphSpec spec_;
  std::vector<double> cost_us_;
  double total_cost_us_ = 0;
  std::vector<std::int32_t> first_output_;
  std::vector<double> output_bytes_;
  std::vector<double> bytes_out_;
  std::vector<double> parameter_bytes_;
  std::vector<double> kept_bytes_;
  OpFlows last_outputs_;
  std::optional<OpFlows> every_output_;  // where it differs
  std::vector<std::int32_t> sources_;
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> name_rank_;
  IndexLists groups_;
  std::vector<std::int32_t> group_of_;
};
using OpGraphPtr = std::shared_ptr<const OpGraph>;

}  // namespace pacml::env
