#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/experience/observations.h"
#include "env/environment.h"

namespace pacml::python {

enum class ColumnType { kFloat32, kInt64, kInt8 };
[[nodiscard]] std::size_t bytes_of(ColumnType type);

// One array of a batch of observations: [rows, shape...].
struct ColumnSpec {
  std::string name;
  ColumnType type = ColumnType::kFloat32;
  std::vector<std::size_t> shape;  // of a row; empty: one number
  // kFloat32: the features' names and, with zero for what is padded, their bounds, one for each
  // entry of the last axis. Empty: not known, unbounded.
  std::vector<std::string> features;
  std::vector<float> low;
  std::vector<float> high;
  std::int64_t values = 0;  // kInt64: 0 .. values - 1

  [[nodiscard]] std::size_t row_values() const;
  [[nodiscard]] std::size_t row_bytes() const { return row_values() * bytes_of(type); }
};

// How a task's observations, whose rows may differ in length, are laid out in arrays of fixed
// shapes:
//
//   mask             int8 [A]       1 where the action may be taken
//   globals          float32 [G]    where the task has any
//   candidates       float32 [A, W] what is sent of each action, where the task sends anything
//   candidate_nodes  int64 [A]      the node that each action is, where actions are nodes
//   derived          float32 [A, V] what networks read of each action, where that is computed
//   situation        float32 [S]    ... and of the decision as a whole
//   SLOT_graph       int64          index of the graph that the slot shows
//   SLOT_nodes       float32 [M, D] its nodes' features that change, where it has any
//   SLOT_focus       int64          the node that the decision is about, where there is one
//
// A is the most actions that there are, M the nodes of the largest graph; what is behind the last
// one, and what is derived of an action that may not be taken, is zero. Immutable.
class ObservationLayout {
 public:
  // `derived`: whether what networks read of candidates is among the columns. UserError: several
  // agents decide.
  ObservationLayout(const env::EnvironmentSpec& spec, bool derived);

  [[nodiscard]] const std::vector<ColumnSpec>& columns() const { return columns_; }
  // Those that read_row needs come first, so many.
  [[nodiscard]] std::size_t num_sent() const { return num_sent_; }
  [[nodiscard]] bool has_derived() const { return num_sent_ < columns_.size(); }
  [[nodiscard]] std::size_t num_actions() const { return columns_.front().shape.front(); }

  // Row b of `from`, into row `row` of the columns, whose memory begins at to[column]. `reader`:
  // where there are derived columns; may be null else.
  void write_row(const Observations& from, std::size_t b, env::CandidateReader* reader,
                 std::size_t row, const std::vector<std::byte*>& to) const;
  // The other way: adds row `row` of the columns to `out`; what is derived is not looked at.
  // UserError: an index of no graph or node, or of a graph that its slot never shows; a mask that
  // allows nothing, or is not of 0 and 1.
  void read_row(const std::vector<const std::byte*>& from, std::size_t row,
                Observations& out) const;

 private:
  // Where a slot's columns are; 0 (the mask): it has none.
  struct SlotColumns {
    std::size_t graph = 0;
    std::size_t nodes = 0;
    std::size_t focus = 0;
    std::size_t width = 0;    // of its nodes' features that change
    std::vector<bool> shows;  // [graphs] whether it may be the one
  };

  template <class T>
  [[nodiscard]] T* row_of(const std::vector<std::byte*>& to, std::size_t column,
                          std::size_t row) const;
  template <class T>
  [[nodiscard]] const T* row_of(const std::vector<const std::byte*>& from, std::size_t column,
                                std::size_t row) const;
  std::size_t add(ColumnSpec column);

  std::vector<ColumnSpec> columns_;
  std::vector<std::size_t> graph_nodes_;  // [graphs] how many
  std::vector<SlotColumns> slots_;
  std::size_t num_sent_ = 0;
  std::size_t globals_ = 0;  // which column, as in SlotColumns
  std::size_t candidates_ = 0;
  std::size_t candidate_nodes_ = 0;
  std::size_t node_slot_ = 0;  // whose nodes those are
  std::size_t derived_ = 0;
  std::size_t situation_ = 0;
};

}  // namespace pacml::python
