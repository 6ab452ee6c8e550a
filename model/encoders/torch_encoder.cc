#include "model/encoders/torch_encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "common/check.h"
#include "model/encoders/relatives.h"
#include "model/encoders/slot_inputs.h"
#include "model/network_constants.h"
#include "model/torch_pool.h"

namespace pacml::model {

TorchLayer linear_layer(const NamedParts& parts, const std::string& name) {
  return {parts[name + ".weight"], parts[name + ".bias"]};
}

at::Tensor apply(const TorchLayer& layer, const at::Tensor& rows) {
  return at::linear(rows, layer.weight, layer.bias);
}

namespace {

class Parts {
 public:
  explicit Parts(const NamedParts& parts) : parts_(parts) {}
  [[nodiscard]] TorchLayer linear(const std::string& name, int /*in*/, int /*out*/) const {
    return linear_layer(parts_, name);
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
  // What decisions look at; several may be about one graph.
  std::vector<std::size_t> ends;  // of each graph's nodes
  at::Tensor place;               // int64 [B]: which graph
  at::Tensor focus;               // int64 [B]: its node; undefined where none is named
  // Nodes of a set, decision by decision.
  struct Members {
    at::Tensor node;      // int64 [M]
    at::Tensor decision;  // int64 [M]
  };
  std::array<Members, 4> sets;  // by NodeSet; undefined where nobody asks
};

class Operations {
 public:
  explicit Operations(const GraphList& graphs) : graphs_(graphs) {}

  [[nodiscard]] const at::Tensor& inputs() const { return graphs_.inputs; }
  [[nodiscard]] static at::Tensor linear(const TorchLayer& layer, const at::Tensor& rows) {
    return apply(layer, rows);
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
  [[nodiscard]] at::Tensor sum_messages(EdgeEnd end, const at::Tensor& rows) const {
    const auto& messages = graphs_.messages[static_cast<std::size_t>(end)];
    return at::zeros_like(rows).index_add(0, messages.to, rows.index_select(0, messages.from));
  }
  [[nodiscard]] at::Tensor where_heard(EdgeEnd end, const at::Tensor& rows) const {
    return rows * graphs_.messages[static_cast<std::size_t>(end)].shares.sign();
  }
  [[nodiscard]] static at::Tensor join(const at::Tensor& rows, const at::Tensor& others) {
    return at::cat({rows, others}, 1);
  }
  [[nodiscard]] at::Tensor mean_and_maximum(const at::Tensor& nodes) const {
    return model::mean_and_maximum(nodes, graphs_.ends).index_select(0, graphs_.place);
  }
  [[nodiscard]] at::Tensor sum_of(NodeSet set, const at::Tensor& nodes) const {
    const auto& members = graphs_.sets[static_cast<std::size_t>(set)];
    return at::zeros({graphs_.place.size(0), nodes.size(1)}, nodes.options())
        .index_add(0, members.decision, nodes.index_select(0, members.node));
  }
  [[nodiscard]] at::Tensor focus(const at::Tensor& nodes) const {
    return nodes.index_select(0, graphs_.focus);
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
    const bool has_relatives = slot_.focus && slot_.encoder->kind == EncoderKind::kTwoWay;
    if (graph.is_ours && has_relatives) graph.ancestry.emplace(*features);
  }
}

namespace {

// Collects GraphList::Members.
struct MemberList {
  std::vector<std::int64_t> node, decision;
  void append(std::int64_t first_node, std::int32_t member, std::size_t of) {
    node.push_back(first_node + member);
    decision.push_back(static_cast<std::int64_t>(of));
  }
};

}  // namespace

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
  const bool has_edges = reads_edges(slot_.encoder->kind);
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
      if (has_edges) {
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
  if (has_edges) {
    graphs.edges = at::empty({edges, slot_.edge_width}, at::kFloat);
    std::ranges::copy(edge_features, graphs.edges.data_ptr<float>());
    graphs.edge = tensor(edge);
    graphs.messages = {make_messages(from, to, nodes), make_messages(to, from, nodes)};
  }
  graphs.ends = std::move(node_ends);
  graphs.place = tensor(place);
  if (slot_.focus) {
    std::vector<std::int64_t> focus;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const std::uint32_t node = batch.focus(b, slot_index_);
      PACML_CHECK(static_cast<int>(node) < graphs_[batch.graph(b, slot_index_)].features->num_nodes,
                  "a focus within its graph");
      focus.push_back(out.first_node[b] + node);
    }
    graphs.focus = tensor(focus);
  }
  if (slot_.encoder->kind == EncoderKind::kTwoWay) {
    std::array<MemberList, 4> lists;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const Graph& graph = graphs_[batch.graph(b, slot_index_)];
      if (!slot_.focus) {
        for (int v = 0; v < graph.features->num_nodes; ++v) {
          lists[static_cast<std::size_t>(NodeSet::kAll)].append(out.first_node[b], v, b);
        }
        continue;
      }
      const Relatives relatives = graph.ancestry->of(batch.focus(b, slot_index_));
      for (const NodeSet set : {NodeSet::kAncestors, NodeSet::kDescendants, NodeSet::kOthers}) {
        for (const std::int32_t v : relatives.in(set)) {
          lists[static_cast<std::size_t>(set)].append(out.first_node[b], v, b);
        }
      }
    }
    for (std::size_t set = 0; set < lists.size(); ++set) {
      graphs.sets[set] = {tensor(lists[set].node), tensor(lists[set].decision)};
    }
  }
  Operations operations(graphs);
  out.nodes = run_graph_encoder(operations, layers_);
  out.context = run_graph_context(operations, layers_, out.nodes, slot_.focus);
  return out;
}

}  // namespace pacml::model
