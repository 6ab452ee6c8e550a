#include "model/encoders/torch_encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "common/check.h"
#include "model/encoders/slot_inputs.h"
#include "model/network_constants.h"
#include "model/torch_pool.h"

namespace pacml::model {
namespace {

class Parts {
 public:
  explicit Parts(const NamedParts& parts) : parts_(parts) {}
  [[nodiscard]] TorchLayer linear(const std::string& name, int /*in*/, int /*out*/) const {
    return {parts_[name + ".weight"], parts_[name + ".bias"]};
  }
  [[nodiscard]] TorchLayer product(const std::string& name, int /*in*/, int /*out*/) const {
    return {parts_[name + ".weight"], {}};
  }
  [[nodiscard]] TorchLayer norm(const std::string& name, int width) const {
    return linear(name, width, width);
  }

 private:
  const NamedParts& parts_;
};

// Graphs one after another, without edges between them. An end of the edges: where messages come
// from and go to, and 1 / messages of each node.
struct GraphList {
  struct Messages {
    at::Tensor from;    // int64 [E]
    at::Tensor to;      // int64 [E]
    at::Tensor shares;  // [N, 1]; 0 without messages
  };
  at::Tensor inputs;                 // [N, features]
  at::Tensor edges;                  // [edges of distinct graphs, features]
  at::Tensor edge;                   // int64 [E]: which of them
  std::array<Messages, 2> messages;  // by EdgeEnd
};

class Operations {
 public:
  explicit Operations(const GraphList& graphs) : graphs_(graphs) {}

  [[nodiscard]] const at::Tensor& inputs() const { return graphs_.inputs; }
  [[nodiscard]] static at::Tensor linear(const TorchLayer& layer, const at::Tensor& rows) {
    return at::linear(rows, layer.weight, layer.bias);
  }
  [[nodiscard]] static at::Tensor norm(const TorchLayer& layer, const at::Tensor& rows) {
    return at::layer_norm(rows, {rows.size(1)}, layer.weight, layer.bias, kNormEpsilon);
  }
  [[nodiscard]] static at::Tensor relu(const at::Tensor& rows) { return at::relu(rows); }
  [[nodiscard]] static at::Tensor add(const at::Tensor& rows, const at::Tensor& others) {
    return rows + others;
  }
  [[nodiscard]] at::Tensor mean_message(EdgeEnd end, const at::Tensor& rows,
                                        const std::optional<TorchLayer>& edge_layer) const {
    const auto& messages = graphs_.messages[static_cast<std::size_t>(end)];
    at::Tensor said = rows.index_select(0, messages.from);
    if (edge_layer) said = said + linear(*edge_layer, graphs_.edges).index_select(0, graphs_.edge);
    return at::zeros_like(rows).index_add(0, messages.to, at::relu(said)) * messages.shares;
  }

 private:
  const GraphList& graphs_;
};

at::Tensor tensor(const std::vector<std::int64_t>& values) {
  const at::Tensor out = at::empty({static_cast<std::int64_t>(values.size())}, at::kLong);
  std::ranges::copy(values, out.data_ptr<std::int64_t>());
  return out;
}

GraphList::Messages make_messages(const std::vector<std::int64_t>& from,
                                  const std::vector<std::int64_t>& to, std::int64_t nodes) {
  const at::Tensor shares = at::zeros({nodes, 1}, at::kFloat);
  float* share = shares.data_ptr<float>();
  for (const std::int64_t node : to) share[node] += 1;
  for (std::int64_t v = 0; v < nodes; ++v) share[v] = share[v] > 0 ? 1.0F / share[v] : 0.0F;
  return {tensor(from), tensor(to), shares};
}

}  // namespace

TorchEncoder::TorchEncoder(const SlotShape& slot, std::size_t slot_index, const NamedParts& parts)
    : slot_(slot), slot_index_(slot_index) {
  PACML_CHECK(slot.encoder.has_value(), "a slot that is read");
  layers_ = make_graph_encoder(Parts(parts), slot);
}

void TorchEncoder::set_graphs(std::span<const env::GraphFeaturesPtr> graphs) {
  graphs_.clear();
  for (const auto& features : graphs) {
    Graph& graph = graphs_.emplace_back();
    graph.features = features;
    graph.is_ours = is_of(slot_, *features);
    graph.edges.resize(features->edge_features.size());
    std::ranges::transform(features->edge_features, graph.edges.begin(), squashed);
  }
}

TorchEncoding TorchEncoder::encode(const Observations& batch) const {
  TorchEncoding out;
  std::vector<std::int64_t> first_edge(graphs_.size(), -1);  // of distinct graphs
  std::vector<std::int64_t> list_place(graphs_.size(), -1);  // where a static slot's graph is
  std::vector<std::size_t> node_ends;                        // of the graphs that are looked at
  std::vector<std::int64_t> place;                           // [B], in that list
  std::vector<float> edge_features;
  std::vector<float> inputs;
  std::vector<std::int64_t> edge;
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> to;
  std::int64_t edges = 0;
  const auto width = static_cast<std::size_t>(slot_.node_width + slot_.dynamic_width);
  const bool reads_edges = slot_.encoder->kind == EncoderKind::kMessagePassing;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const std::size_t index = batch.graph(b, slot_index_);
    PACML_CHECK(index < graphs_.size() && graphs_[index].is_ours,
                "a row that shows a graph of this slot");
    const Graph& graph = graphs_[index];
    const env::GraphFeatures& features = *graph.features;
    if (slot_.is_static() && list_place[index] >= 0) {
      place.push_back(list_place[index]);
    } else {
      place.push_back(static_cast<std::int64_t>(node_ends.size()));
      list_place[index] = place.back();
      const auto nodes = static_cast<std::size_t>(features.num_nodes);
      const std::size_t first = node_ends.empty() ? 0 : node_ends.back();
      node_ends.push_back(first + nodes);
      inputs.resize((first + nodes) * width);
      write_node_inputs(slot_, features, batch.node_features(b, slot_index_),
                        inputs.data() + first * width, width);
      if (reads_edges) {
        if (first_edge[index] < 0) {
          first_edge[index] = edges;
          edges += features.num_edges;
          edge_features.insert(edge_features.end(), graph.edges.begin(), graph.edges.end());
        }
        const auto base = static_cast<std::int64_t>(first);
        for (std::size_t e = 0; e < features.edge_src.size(); ++e) {
          edge.push_back(first_edge[index] + static_cast<std::int64_t>(e));
          from.push_back(base + features.edge_src[e]);
          to.push_back(base + features.edge_dst[e]);
        }
      }
    }
    const auto at = static_cast<std::size_t>(place.back());
    out.first_node.push_back(at == 0 ? 0 : static_cast<std::int64_t>(node_ends[at - 1]));
  }

  GraphList graphs;
  const auto nodes = static_cast<std::int64_t>(node_ends.back());
  graphs.inputs = at::empty({nodes, static_cast<std::int64_t>(width)}, at::kFloat);
  std::ranges::copy(inputs, graphs.inputs.data_ptr<float>());
  if (reads_edges) {
    graphs.edges = at::empty({edges, slot_.edge_width}, at::kFloat);
    std::ranges::copy(edge_features, graphs.edges.data_ptr<float>());
    graphs.edge = tensor(edge);
    graphs.messages = {make_messages(from, to, nodes), make_messages(to, from, nodes)};
  }
  Operations operations(graphs);
  out.nodes = run_graph_encoder(operations, layers_);
  out.context = mean_and_maximum(out.nodes, node_ends).index_select(0, tensor(place));
  if (slot_.focus) {
    std::vector<std::int64_t> focus;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const std::uint32_t node = batch.focus(b, slot_index_);
      PACML_CHECK(static_cast<int>(node) < graphs_[batch.graph(b, slot_index_)].features->num_nodes,
                  "a focus within its graph");
      focus.push_back(out.first_node[b] + node);
    }
    out.context = at::cat({out.context, out.nodes.index_select(0, tensor(focus))}, 1);
  }
  return out;
}

}  // namespace pacml::model
