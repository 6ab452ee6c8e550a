#pragma once

// Internal to pacml_model_torch: the network's arithmetic on tensors. Every tensor is float32 on
// the CPU unless said otherwise.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/experience/observations.h"
#include "env/graph_features.h"
#include "model/network_config.h"
#include "model/parameters.h"

namespace pacml::model {

struct NormedLinear {                 // Norm, then a linear layer
  at::Tensor norm_weight, norm_bias;  // [in]
  at::Tensor weight;                  // [out, in]
  at::Tensor bias;                    // [out]
};

struct RoundWeights {
  NormedLinear node, edge, reduce;
};

// The weights by name.
struct NetworkWeights {
  std::vector<RoundWeights> rounds;
  NormedLinear graph;
  at::Tensor readout_weight, readout_bias;
  at::Tensor logits_weight, logits_bias;
  at::Tensor value_weight, value_bias;
};

// Weights by their names in a layout. Borrows both.
class NamedParts {
 public:
  // `parts`: one tensor per layout entry, in the layout's order (PACML_CHECK).
  NamedParts(const ParameterLayout& layout, std::span<const at::Tensor> parts);
  // Pre: the layout has it (PACML_CHECK).
  [[nodiscard]] at::Tensor operator[](const std::string& name) const;

 private:
  const ParameterLayout* layout_;
  std::span<const at::Tensor> parts_;
};

// head: dense.
[[nodiscard]] NetworkWeights name_weights(const NetworkShape& shape, const NamedParts& parts);

// Several graphs as one, without edges between them. Immutable.
struct GraphUnion {
  at::Tensor nodes;         // [N, node_features]
  at::Tensor edges;         // [E, edge_features]
  at::Tensor message_from;  // int64 [E]: the node that sends along each edge
  at::Tensor message_to;    // int64 [E + N]: receivers along the edges, then every node itself
  at::Tensor message_mean;  // [N, 1]: 1 / messages received, or 0 without an incoming edge
  at::Tensor node_graph;    // int64 [N]: which graph a node belongs to
  at::Tensor node_mean;     // [G, 1]: 1 / nodes
};

// Pre: every graph has a node and the shape's widths (PACML_CHECK).
[[nodiscard]] GraphUnion unite(const NetworkShape& shape,
                               std::span<const env::GraphFeaturesPtr> graphs);

// Mean node embedding of each graph, [G, node_width].
[[nodiscard]] at::Tensor embed(const NetworkWeights& weights, const GraphUnion& graphs);

// A batch's own columns.
struct DecisionTensors {
  at::Tensor inputs;   // [B, globals + actions]: globals, then the mask as 0/1
  at::Tensor invalid;  // bool [B, actions]
};
[[nodiscard]] DecisionTensors decision_tensors(const NetworkShape& shape,
                                               const Observations& batch);

struct Heads {
  at::Tensor logits;  // [B, actions]; kMaskedLogit where invalid
  at::Tensor values;  // [B]
};

// `rows`, int64 [B]: each decision's row of `embeddings`.
[[nodiscard]] Heads heads(const NetworkWeights& weights, const at::Tensor& embeddings,
                          const at::Tensor& rows, const DecisionTensors& decisions);

}  // namespace pacml::model
