#include "model/torch_forward.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string>

#include "common/check.h"
#include "model/encoders/slot_inputs.h"
#include "model/policy.h"
#include "model/torch_rows.h"

namespace pacml::model {
namespace {

at::Tensor apply(const NormedLinear& layer, const at::Tensor& x) {
  const at::Tensor normed =
      at::layer_norm(x, {x.size(1)}, layer.norm_weight, layer.norm_bias, kNormEpsilon);
  return at::linear(normed, layer.weight, layer.bias);
}

// The sum of `rows` [M, W] per `group` (int64 [M]), times `scale` [N, 1].
at::Tensor scaled_group_sum(const at::Tensor& rows, const at::Tensor& group,
                            const at::Tensor& scale) {
  return sum_rows(rows, group, scale.size(0)) * scale;
}

at::Tensor pass_messages(const RoundWeights& weights, const GraphUnion& graphs,
                         const at::Tensor& embeddings) {
  const at::Tensor node_half = at::relu(apply(weights.node, embeddings));
  const at::Tensor edge_half = at::relu(apply(weights.edge, graphs.edges));
  const at::Tensor along_edges = at::cat({take_rows(node_half, graphs.message_from), edge_half}, 1);
  const at::Tensor to_self = at::cat({node_half, at::zeros_like(node_half)}, 1);
  const at::Tensor reduced = at::relu(apply(weights.reduce, at::cat({along_edges, to_self}, 0)));
  return scaled_group_sum(reduced, graphs.message_to, graphs.message_mean);
}

}  // namespace

NamedParts::NamedParts(const ParameterLayout& layout, std::span<const at::Tensor> parts)
    : layout_(&layout), parts_(parts) {
  PACML_CHECK(parts.size() == layout.entries.size(), "one tensor per layout entry");
}

at::Tensor NamedParts::operator[](const std::string& name) const {
  const auto entry = std::ranges::find(layout_->entries, name, &ParameterEntry::name);
  PACML_CHECK(entry != layout_->entries.end(), "the layout has every weight of the network");
  return parts_[static_cast<std::size_t>(entry - layout_->entries.begin())];
}

NetworkWeights name_weights(const NetworkShape& shape, const NamedParts& parts) {
  const auto normed_linear = [&](const std::string& name) {
    return NormedLinear{parts[name + "_norm.weight"], parts[name + "_norm.bias"],
                        parts[name + ".weight"], parts[name + ".bias"]};
  };
  NetworkWeights weights;
  for (int r = 0; r < shape.config.rounds; ++r) {
    const std::string round = "round" + std::to_string(r) + ".";
    weights.rounds.push_back({normed_linear(round + "node"), normed_linear(round + "edge"),
                              normed_linear(round + "reduce")});
  }
  weights.graph = normed_linear("graph");
  weights.readout_weight = parts["readout.weight"];
  weights.readout_bias = parts["readout.bias"];
  weights.logits_weight = parts["logits.weight"];
  weights.logits_bias = parts["logits.bias"];
  weights.value_weight = parts["value.weight"];
  weights.value_bias = parts["value.bias"];
  return weights;
}

GraphUnion unite(const NetworkShape& shape, std::span<const env::GraphFeaturesPtr> graphs) {
  std::int64_t num_nodes = 0;
  std::int64_t num_edges = 0;
  for (const auto& graph : graphs) {
    PACML_CHECK(is_of(shape.graph(), *graph), "a graph with features of another width");
    num_nodes += graph->num_nodes;
    num_edges += graph->num_edges;
  }
  GraphUnion out;
  out.nodes = at::empty({num_nodes, shape.graph().node_width}, at::kFloat);
  out.edges = at::empty({num_edges, shape.graph().edge_width}, at::kFloat);
  out.message_from = at::empty({num_edges}, at::kLong);
  out.message_to = at::empty({num_edges + num_nodes}, at::kLong);
  out.message_mean = at::zeros({num_nodes, 1}, at::kFloat);
  out.node_graph = at::empty({num_nodes}, at::kLong);
  out.node_mean = at::empty({static_cast<std::int64_t>(graphs.size()), 1}, at::kFloat);

  float* nodes = out.nodes.data_ptr<float>();
  float* edges = out.edges.data_ptr<float>();
  std::int64_t* from = out.message_from.data_ptr<std::int64_t>();
  std::int64_t* to = out.message_to.data_ptr<std::int64_t>();
  float* mean = out.message_mean.data_ptr<float>();
  std::int64_t* node_graph = out.node_graph.data_ptr<std::int64_t>();
  std::int64_t first_node = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const env::GraphFeatures& graph = *graphs[g];
    nodes = std::ranges::copy(graph.node_features, nodes).out;
    edges = std::ranges::copy(graph.edge_features, edges).out;
    for (const std::int32_t node : graph.edge_src) *from++ = first_node + node;
    for (const std::int32_t node : graph.edge_dst) {
      *to++ = first_node + node;
      mean[first_node + node] += 1;
    }
    std::fill_n(node_graph + first_node, graph.num_nodes, static_cast<std::int64_t>(g));
    out.node_mean.data_ptr<float>()[g] = 1.0F / static_cast<float>(graph.num_nodes);
    first_node += graph.num_nodes;
  }
  for (std::int64_t v = 0; v < num_nodes; ++v) {
    *to++ = v;
    mean[v] = mean[v] > 0 ? 1.0F / (mean[v] + 1.0F) : 0.0F;
  }
  return out;
}

at::Tensor embed(const NetworkWeights& weights, const GraphUnion& graphs) {
  at::Tensor embeddings = graphs.nodes;
  for (const RoundWeights& round : weights.rounds) {
    embeddings = pass_messages(round, graphs, embeddings);
  }
  return scaled_group_sum(embeddings, graphs.node_graph, graphs.node_mean);
}

DecisionTensors decision_tensors(const NetworkShape& shape, const Observations& batch) {
  PACML_CHECK(batch.shape() == input_shape(shape), "a batch of another observation space");
  const auto rows = static_cast<std::int64_t>(batch.size());
  DecisionTensors out;
  out.inputs = at::empty({rows, shape.globals + shape.actions}, at::kFloat);
  out.invalid = at::empty({rows, shape.actions}, at::kBool);
  float* input = out.inputs.data_ptr<float>();
  bool* invalid = out.invalid.data_ptr<bool>();
  for (std::size_t b = 0; b < batch.size(); ++b) {
    input = std::ranges::copy(batch.globals(b), input).out;
    for (const std::uint8_t valid : batch.mask(b)) {
      *input++ = valid != 0 ? 1.0F : 0.0F;
      *invalid++ = valid == 0;
    }
  }
  return out;
}

Heads heads(const NetworkWeights& weights, const at::Tensor& embeddings, const at::Tensor& rows,
            const DecisionTensors& decisions) {
  const at::Tensor graph = apply(weights.graph, decisions.inputs);
  const at::Tensor joined = at::cat({take_rows(embeddings, rows), graph}, 1);
  const at::Tensor hidden =
      at::relu(at::linear(joined, weights.readout_weight, weights.readout_bias));
  return {at::linear(hidden, weights.logits_weight, weights.logits_bias)
              .masked_fill(decisions.invalid, kMaskedLogit),
          at::linear(hidden, weights.value_weight, weights.value_bias).squeeze(1)};
}

}  // namespace pacml::model
