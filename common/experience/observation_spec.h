#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pacml {

// A number that a decision shows: for people, for networks that scale what they read, for files.
struct FeatureSpec {
  std::string name;  // unique in its group
  std::string unit;  // "1" where it is a share or a count
  double low = 0;    // what it is never below, and never above; infinite: no such bound
  double high = std::numeric_limits<double>::infinity();
  bool operator==(const FeatureSpec&) const = default;
};

// A graph that every decision shows: which one differs from decision to decision.
struct SlotSpec {
  std::string name;
  std::uint32_t node_width = 0;     // static features per node, of the graph itself
  std::uint32_t edge_width = 0;     // ... and per edge
  std::uint32_t dynamic_width = 0;  // features per node that each decision brings along; 0: none
  bool focus = false;               // whether each decision names a node of it
  // How many nodes its graphs have at most, where that bounds what a decision takes; 0: not known.
  std::uint32_t most_nodes = 0;
  // Where what networks read is laid out by the nodes of the slot's only graph, one by one: which
  // graph that is, for people ("topology 4x4x2"). They are for no other one, not even where no
  // width tells the two apart. Empty: for any.
  std::string only_graph = {};
  bool operator==(const SlotSpec&) const = default;
};

// The actions of a decision, one row each: action a is candidate a.
struct CandidateSpec {
  std::uint32_t most = 0;                  // how many there are; where their number varies, at most
  bool vary = false;                       // their number differs from decision to decision
  std::vector<FeatureSpec> features;       // of each; none: a candidate is known by its place alone
  bool derived = false;                    // ... or by what is computed of it where it is read
  std::optional<std::uint32_t> node_slot;  // each names a node of this slot's graph
  bool operator==(const CandidateSpec&) const = default;
};

// Widths alone: what data is laid out by, and what peers compare. docs/architecture.md,
// "Observations". Value type.
struct ObservationShape {
  struct Slot {
    std::uint32_t dynamic_width = 0;
    bool focus = false;
    bool operator==(const Slot&) const = default;
  };
  std::vector<Slot> slots;
  std::uint32_t globals = 0;
  std::uint32_t candidates = 0;  // how many, or at most
  bool candidates_vary = false;
  std::uint32_t candidate_width = 0;
  bool candidates_name_nodes = false;
  std::uint32_t agents = 1;

  // Whether every row takes the same room.
  [[nodiscard]] bool rectangular() const;
  // Bytes of a row's columns. Where rows differ: of the largest, with graphs of so many nodes.
  [[nodiscard]] std::size_t row_bytes(std::size_t most_nodes = 0) const;
  bool operator==(const ObservationShape&) const = default;
};

// One graph a decision, so many globals, and always so many candidates without features.
[[nodiscard]] ObservationShape plain_shape(std::size_t globals, std::size_t candidates);

// Everything that a task's decisions show, by name. Value type.
struct ObservationSpec {
  std::vector<SlotSpec> slots;  // at least one
  std::vector<FeatureSpec> globals;
  CandidateSpec candidates;
  std::uint32_t agents = 1;  // who decides in turns, in one environment

  [[nodiscard]] ObservationShape shape() const;
  // Bytes of a row's columns; where rows differ, of the largest, as far as most_nodes are known.
  [[nodiscard]] std::size_t row_bytes() const;
  bool operator==(const ObservationSpec&) const = default;
};

// The widest observations that peers believe.
struct ObservationLimits {
  std::uint32_t max_slots = 8;
  std::uint32_t max_dynamic_width = 1024;
  std::uint32_t max_globals = 4096;
  std::uint32_t max_candidates = 4096;
  std::uint32_t max_candidate_width = 1024;
  std::uint32_t max_agents = 4096;
  std::uint32_t max_graphs = 4096;       // that one message lists
  std::uint32_t max_nodes = 1U << 20;    // of one graph
  std::uint32_t max_rows = 1U << 22;     // of one message
  std::uint64_t max_values = 1U << 28U;  // candidates, or node features, of one message
};

// Whether the shape is within the limits: the first sentence that says why not, of the form "12
// candidates, more than 10". Pure.
[[nodiscard]] std::optional<std::string> beyond(const ObservationShape& shape,
                                                const ObservationLimits& limits = {});

// Every problem of a task's description, as a sentence: widths beyond the limits, names that are
// missing or come twice, ranges the wrong way round, a slot that is not there. Pure.
[[nodiscard]] std::vector<std::string> validate(const ObservationSpec& spec,
                                                const ObservationLimits& limits = {});

}  // namespace pacml
