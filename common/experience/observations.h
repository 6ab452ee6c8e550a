#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/experience/observation_spec.h"
#include "common/ids.h"
#include "common/result.h"

namespace pacml {

// One row, borrowed for writing; a span is empty where the shape has no such column.
struct ObservationRow {
  std::span<std::uint16_t> graph;  // [slots], each an index into Observations::graphs()
  std::span<std::uint32_t> focus;  // [slots with a focus], in the order of the slots
  std::span<float> node_features;  // of each slot with dynamic features, [nodes, width] in turn
  std::span<float> globals;        // [G]
  std::span<float> candidates;     // [candidates, width]
  std::span<std::uint32_t> candidate_nodes;  // [candidates]
  std::span<std::uint8_t> mask;              // [candidates], 1 = valid; at least one is valid
  std::span<std::uint16_t> agent;            // [1] where there are several
};

// How long the parts of a row are that differ from row to row.
struct RowLengths {
  std::uint32_t candidates = 0;          // where their number varies
  std::span<const std::uint32_t> nodes;  // [slots with dynamic features]
};

// How long the columns of an observation store are.
struct ObservationCounts {
  std::size_t rows = 0;
  std::size_t graphs = 0;
  std::size_t node_values = 0;  // floats of dynamic node features
  std::size_t candidates = 0;   // of all rows
  bool operator==(const ObservationCounts&) const = default;
};

// Bytes of all columns of such a store together, the list of graphs included.
[[nodiscard]] std::uint64_t column_bytes(const ObservationShape& shape,
                                         const ObservationCounts& counts);

// What decisions show: rows of one shape, in columns, whatever they are made of. Actors write
// their environments' observations into one, messages carry one, networks read one. Rows may
// differ in length; nothing is padded, and what the shape does not have takes no memory. Graphs
// never travel: a row holds indices into the store's own list of content hashes.
//
// Columns always have the lengths that the shape says. What is in them is the writer's to get right
// and validate()'s to check. Value type; owning; using one again saves its allocations.
class Observations {
 public:
  Observations() = default;
  explicit Observations(ObservationShape shape) : shape_(std::move(shape)) {}
  // So many rows of zeroes. Pre: the shape is rectangular (PACML_CHECK).
  Observations(ObservationShape shape, std::size_t rows);
  // Columns of such lengths, of zeroes, for a decoder to fill. To be read only after validate().
  Observations(ObservationShape shape, const ObservationCounts& counts);

  [[nodiscard]] const ObservationShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t size() const { return rows_; }
  [[nodiscard]] ObservationCounts counts() const;
  [[nodiscard]] std::size_t num_globals() const { return shape_.globals; }
  // Of every row, where the number does not vary; else at most.
  [[nodiscard]] std::size_t num_candidates() const { return shape_.candidates; }

  // What the rows' graph indices mean.
  [[nodiscard]] const std::vector<GraphHash>& graphs() const { return graphs_; }
  // Replaces the list; indices stay what they are.
  void set_graphs(std::vector<GraphHash> graphs) { graphs_ = std::move(graphs); }

  // No rows any more; the list of graphs and the memory stay.
  void clear();
  // No rows any more, of the other's shape and with its graphs; memory stays where the shape does.
  void restart_as(const Observations& other);
  void reserve(std::size_t rows);

  // Adds a row of zeroes and lends it until the next one is added. Pre: the lengths that vary are
  // given, with at least one candidate and no more than the shape allows (PACML_CHECK).
  ObservationRow append(const RowLengths& lengths = {});
  // Adds copies of another store's rows; graphs that this list lacks join it. Pre: of the same
  // shape (PACML_CHECK).
  void append_row(const Observations& other, std::size_t row) { append_rows(other, row, 1); }
  void append_rows(const Observations& other, std::size_t begin, std::size_t count);
  // ... with graph_index[g] for graph g of the other; the list stays as it is.
  void append_rows(const Observations& other, std::size_t begin, std::size_t count,
                   std::span<const std::uint16_t> graph_index);

  // A row as bytes, for those who keep rows one by one: appended to `out`, with graph_index[g] for
  // graph g.
  void pack_row(std::size_t row, std::span<const std::uint16_t> graph_index, Bytes& out) const;
  // Adds the row at the front of `packed`, which then begins after it. False: it is not one of this
  // shape, nothing was added. What is in it is as it was packed.
  [[nodiscard]] bool append_packed(std::span<const std::byte>& packed);

  // Takes off the last row. Pre: size() > 0 (PACML_CHECK).
  void pop_row();

  // One row.
  [[nodiscard]] ObservationRow row(std::size_t b);
  [[nodiscard]] std::uint16_t graph(std::size_t b, std::size_t slot = 0) const {
    return graph_[b * shape_.slots.size() + slot];
  }
  [[nodiscard]] std::span<const float> globals(std::size_t b) const {
    return std::span(globals_).subspan(b * shape_.globals, shape_.globals);
  }
  [[nodiscard]] std::size_t num_candidates(std::size_t b) const {
    return shape_.candidates_vary ? candidate_end_[b] - first_candidate(b) : shape_.candidates;
  }
  [[nodiscard]] std::span<const std::uint8_t> mask(std::size_t b) const {
    return std::span(mask_).subspan(first_candidate(b), num_candidates(b));
  }
  // Candidates that are 1 in the mask.
  [[nodiscard]] std::size_t num_valid(std::size_t b) const {
    return static_cast<std::size_t>(std::ranges::count(mask(b), std::uint8_t{1}));
  }
  // [candidates, width]
  [[nodiscard]] std::span<const float> candidates(std::size_t b) const;
  [[nodiscard]] std::span<const std::uint32_t> candidate_nodes(std::size_t b) const;
  // [nodes, width] of a slot; empty where it has no dynamic features.
  [[nodiscard]] std::span<const float> node_features(std::size_t b, std::size_t slot) const;
  // Pre: the slot has a focus.
  [[nodiscard]] std::uint32_t focus(std::size_t b, std::size_t slot) const;
  [[nodiscard]] std::uint16_t agent(std::size_t b) const {
    return agent_.empty() ? std::uint16_t{0} : agent_[b];
  }

  // Whole columns, row after row.
  [[nodiscard]] std::span<const std::uint16_t> graph_indices() const { return graph_; }
  [[nodiscard]] std::span<const float> globals() const { return globals_; }
  [[nodiscard]] std::span<const float> candidates() const { return candidates_; }
  [[nodiscard]] std::span<const std::uint8_t> masks() const { return mask_; }
  // [rows, num_candidates()], with zeroes behind the candidates of a row that has fewer than most:
  // the masks that go with logits. Borrowed from here, or from `scratch` where the number varies.
  [[nodiscard]] std::span<const std::uint8_t> padded_masks(
      std::vector<std::uint8_t>& scratch) const;
  // Where row b's candidates begin in masks() and candidates().
  [[nodiscard]] std::size_t first_candidate(std::size_t b) const {
    if (!shape_.candidates_vary) return b * shape_.candidates;
    return b == 0 ? 0 : candidate_end_[b - 1];
  }

  // Calls f(span) for every column, the list of graphs first: for codecs. Lengths are those of
  // counts(); what the shape does not have is empty.
  template <class F>
  void visit_columns(F&& f) const {
    visit(*this, f);
  }
  template <class F>
  void visit_columns(F&& f) {
    visit(*this, f);
  }

  bool operator==(const Observations&) const = default;

 private:
  friend Result<void> validate(const Observations& observations, const ObservationLimits& limits);

  template <class Self, class F>
  static void visit(Self& self, F& f) {
    f(std::span(self.graphs_));
    f(std::span(self.globals_));
    f(std::span(self.node_features_));
    f(std::span(self.candidates_));
    f(std::span(self.node_end_));
    f(std::span(self.candidate_end_));
    f(std::span(self.focus_));
    f(std::span(self.candidate_nodes_));
    f(std::span(self.graph_));
    f(std::span(self.agent_));
    f(std::span(self.mask_));
  }

  // What of a row is laid out by the shape alone.
  struct Widths {
    std::size_t slots = 0;
    std::size_t focuses = 0;
    std::size_t dynamic = 0;  // slots with dynamic features
  };
  [[nodiscard]] Widths widths() const;
  [[nodiscard]] std::size_t first_node_value(std::size_t b, std::size_t dynamic_slots) const {
    return b * dynamic_slots == 0 ? 0 : node_end_[b * dynamic_slots - 1];
  }
  // All columns but graph_, which every caller fills in its own way.
  void append_columns(const Observations& other, std::size_t begin, std::size_t count);

  ObservationShape shape_;
  std::size_t rows_ = 0;
  std::vector<GraphHash> graphs_;
  std::vector<std::uint16_t> graph_;            // [rows, slots]
  std::vector<std::uint32_t> focus_;            // [rows, slots with a focus]
  std::vector<std::uint32_t> node_end_;         // [rows, slots with dynamic features]: where each
                                                // part of node_features_ ends
  std::vector<float> node_features_;            // one part after the other
  std::vector<float> globals_;                  // [rows, G]
  std::vector<std::uint32_t> candidate_end_;    // [rows] where their number varies: where the
                                                // rows' candidates end
  std::vector<float> candidates_;               // [candidates of all rows, width]
  std::vector<std::uint32_t> candidate_nodes_;  // [candidates of all rows]
  std::vector<std::uint8_t> mask_;              // [candidates of all rows]
  std::vector<std::uint16_t> agent_;            // [rows] where there are several
};

// Whether what the rows hold makes sense: indices in range, finite numbers, masks of 0 and 1 with a
// 1 in every row, parts that follow one another. kOverLimit or kCorruptFrame with a sentence. Pure.
[[nodiscard]] Result<void> validate(const Observations& observations,
                                    const ObservationLimits& limits = {});

}  // namespace pacml
