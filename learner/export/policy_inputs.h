#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/experience/observation_spec.h"
#include "common/experience/observations.h"
#include "env/graph_features.h"
#include "model/encoders/graph_encoder.h"
#include "model/network_config.h"

// What an exported policy is fed: tensors by name, the same ones in every format.
//
// head: dense, B decisions, each on a graph of its own, of N nodes and E edges in all:
//   node_features [N, F]   edge_features [E, F']   edge_src, edge_dst [E]   node_graph [N]
//   globals [B, G]         mask [B, A]
// node_graph says which decision a node belongs to.
//
// head: candidates, B decisions between C valid candidates in all:
//   candidate_features [C, F]   candidate_decision [C]   situation [B, S]
// head: perceptron, B decisions:
//   globals [B, G]              where there are any
//   mask [B, A]
// and of both, for each SLOT of the observation whose graph the network reads, of N nodes and E
// edges in all:
//   SLOT_node_features [N, F']  SLOT_node_decision [N]
//   SLOT_edge_features [E, F'']                                     kind: message_passing
//   SLOT_edge_src, SLOT_edge_dst [E]                                ... and two_way
//   SLOT_focus [B]                                                  where decisions name a node
//   SLOT_ancestors, SLOT_descendants, SLOT_others [N, 1]            ... and kind: two_way
//   candidate_node [C]                                              candidates that are nodes
//   agent [B]                                                       several agents
// Candidates stand decision by decision, and so do nodes; a decision has at least one of each.
// Nodes are counted through all graphs of a slot. Edges without features have no
// SLOT_edge_features. Ancestors are 1 where the decision's focus is reached from the node,
// descendants where it reaches the node, others where the node is neither nor the focus; else 0.
namespace pacml::learner {

struct PolicyInput {
  enum class Type { kFloat, kIndex, kFlag };  // float32 matrix, int64 vector, bool matrix
  std::string name;
  Type type = Type::kFloat;
  std::string rows;                       // what there is one row of: "nodes", "decisions", ..
  std::size_t width = 1;                  // columns of a matrix
  std::vector<FeatureSpec> columns = {};  // [width]; empty where they have no names
};

// In the order of the exported function's arguments. `globals`: of the task, for their names.
[[nodiscard]] std::vector<PolicyInput> policy_inputs(const model::NetworkShape& shape,
                                                     std::span<const FeatureSpec> globals);

// The names of a slot's tensors. Pre: the slot has an encoder.
struct SlotInputNames {
  std::string node_features, node_decision, edge_features, edge_src, edge_dst, focus;
  std::string ancestors, descendants, others;
  // Pre: not kAll (PACML_CHECK).
  [[nodiscard]] const std::string& members(model::NodeSet set) const;
};
[[nodiscard]] SlotInputNames slot_input_names(const model::SlotShape& slot);

// For whoever uses the file, as a JSON array: {"name", "type": "float32" | "int64" | "bool",
// "rows", "width", "columns": [{"name", "unit"}, ..]}.
[[nodiscard]] std::string describe(std::span<const PolicyInput> inputs);

// One input's numbers, row-major: floats of kFloat, integers of the others, a flag as 0 or 1.
struct InputValues {
  std::size_t rows = 0;
  std::vector<float> floats;
  std::vector<std::int64_t> integers;
};

// What the exported function is fed to do what Policy::evaluate does with a batch: one for each of
// policy_inputs(). `graphs`: what the rows refer to. Pre: a batch of the shape, with at least one
// valid candidate in each row (PACML_CHECK).
[[nodiscard]] std::vector<InputValues> input_values(const model::NetworkShape& shape,
                                                    std::span<const env::GraphFeaturesPtr> graphs,
                                                    const Observations& batch);

}  // namespace pacml::learner
