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
#include "model/torch_rows.h"

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
    at::Tensor said = take_rows(rows, messages.from);
    if (edge_layer) said = said + take_rows(linear(*edge_layer, graphs_.edges), graphs_.edge);
    return sum_rows(at::relu(said), messages.to, rows.size(0)) * messages.shares;
  }
  [[nodiscard]] at::Tensor sum_messages(EdgeEnd end, const at::Tensor& rows) const {
    const auto& messages = graphs_.messages[static_cast<std::size_t>(end)];
    return sum_rows(take_rows(rows, messages.from), messages.to, rows.size(0));
  }
  [[nodiscard]] at::Tensor where_heard(EdgeEnd end, const at::Tensor& rows) const {
    return rows * graphs_.messages[static_cast<std::size_t>(end)].shares.sign();
  }
  [[nodiscard]] static at::Tensor join(const at::Tensor& rows, const at::Tensor& others) {
    return at::cat({rows, others}, 1);
  }
  [[nodiscard]] at::Tensor mean_and_maximum(const at::Tensor& nodes) const {
    return take_rows(model::mean_and_maximum(nodes, graphs_.ends), graphs_.place);
  }
  [[nodiscard]] at::Tensor sum_of(NodeSet set, const at::Tensor& nodes) const {
    const auto& members = graphs_.sets[static_cast<std::size_t>(set)];
    return sum_rows(take_rows(nodes, members.node), members.decision, graphs_.place.size(0));
  }
  [[nodiscard]] at::Tensor focus(const at::Tensor& nodes) const {
    return take_rows(nodes, graphs_.focus);
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

// The graphs that a batch's rows show, those that are the same for all of them once. Borrows both.
class TorchEncoder::Listing {
 public:
  Listing(const TorchEncoder& encoder, const Observations& batch)
      : encoder_(encoder),
        batch_(batch),
        slot_(encoder.slot_),
        width_(static_cast<std::size_t>(slot_.node_width + slot_.dynamic_width)),
        place_of_(encoder.graphs_.size(), -1),
        first_edge_(encoder.graphs_.size(), -1) {
    for (std::size_t b = 0; b < batch.size(); ++b) add_row(b);
  }

  // Of each row's graph.
  [[nodiscard]] const std::vector<std::int64_t>& first_node() const { return first_node_; }

  // All but what some decisions look at: focus() and sets(). Pre: there is a row.
  [[nodiscard]] GraphList graphs() const {
    GraphList out;
    const auto nodes = static_cast<std::int64_t>(ends_.back());
    out.inputs = at::empty({nodes, static_cast<std::int64_t>(width_)}, at::kFloat);
    std::ranges::copy(inputs_, out.inputs.data_ptr<float>());
    if (reads_edges(slot_.encoder->kind)) {
      out.edges = at::empty({edges_, slot_.edge_width}, at::kFloat);
      std::ranges::copy(edge_features_, out.edges.data_ptr<float>());
      out.edge = tensor(edge_);
      out.messages = {make_messages(from_, to_, nodes), make_messages(to_, from_, nodes)};
    }
    out.ends = ends_;
    out.place = tensor(place_);
    return out;
  }

  [[nodiscard]] at::Tensor focus() const {
    std::vector<std::int64_t> focus;
    for (std::size_t b = 0; b < batch_.size(); ++b) {
      const std::uint32_t node = batch_.focus(b, encoder_.slot_index_);
      PACML_CHECK(static_cast<int>(node) < graph(b).features->num_nodes,
                  "a focus within its graph");
      focus.push_back(first_node_[b] + node);
    }
    return tensor(focus);
  }

  [[nodiscard]] std::array<GraphList::Members, 4> sets() const {
    std::array<std::vector<std::int64_t>, 4> nodes;
    std::array<std::vector<std::int64_t>, 4> decisions;
    const auto append = [&](NodeSet set, std::int32_t member, std::size_t b) {
      nodes[static_cast<std::size_t>(set)].push_back(first_node_[b] + member);
      decisions[static_cast<std::size_t>(set)].push_back(static_cast<std::int64_t>(b));
    };
    for (std::size_t b = 0; b < batch_.size(); ++b) {
      if (!slot_.focus) {
        for (int v = 0; v < graph(b).features->num_nodes; ++v) append(NodeSet::kAll, v, b);
        continue;
      }
      const Relatives relatives = graph(b).ancestry->of(batch_.focus(b, encoder_.slot_index_));
      for (const NodeSet set : {NodeSet::kAncestors, NodeSet::kDescendants, NodeSet::kOthers}) {
        for (const std::int32_t v : relatives.in(set)) append(set, v, b);
      }
    }
    std::array<GraphList::Members, 4> out;
    for (std::size_t s = 0; s < out.size(); ++s) out[s] = {tensor(nodes[s]), tensor(decisions[s])};
    return out;
  }

 private:
  [[nodiscard]] const Graph& graph(std::size_t b) const {
    return encoder_.graphs_[batch_.graph(b, encoder_.slot_index_)];
  }
  void add_row(std::size_t b) {
    const std::size_t index = batch_.graph(b, encoder_.slot_index_);
    PACML_CHECK(index < place_of_.size() && graph(b).is_ours,
                "a row that shows a graph of this slot");
    if (!slot_.is_static() || place_of_[index] < 0) {
      place_of_[index] = static_cast<std::int64_t>(ends_.size());
      add_graph(index, batch_.node_features(b, encoder_.slot_index_));
    }
    const auto place = static_cast<std::size_t>(place_of_[index]);
    place_.push_back(place_of_[index]);
    first_node_.push_back(place == 0 ? 0 : static_cast<std::int64_t>(ends_[place - 1]));
  }
  void add_graph(std::size_t index, std::span<const float> dynamic) {
    const env::GraphFeatures& features = *encoder_.graphs_[index].features;
    const std::size_t first = ends_.empty() ? 0 : ends_.back();
    ends_.push_back(first + static_cast<std::size_t>(features.num_nodes));
    inputs_.resize(ends_.back() * width_);
    write_node_inputs(slot_, features, dynamic, inputs_.data() + first * width_, width_);
    if (reads_edges(slot_.encoder->kind)) add_edges(index, static_cast<std::int64_t>(first));
  }
  void add_edges(std::size_t index, std::int64_t first_node) {
    const Graph& graph = encoder_.graphs_[index];
    const env::GraphFeatures& features = *graph.features;
    if (first_edge_[index] < 0) {
      first_edge_[index] = edges_;
      edges_ += features.num_edges;
      edge_features_.insert(edge_features_.end(), graph.edges.begin(), graph.edges.end());
    }
    for (std::size_t e = 0; e < features.edge_src.size(); ++e) {
      edge_.push_back(first_edge_[index] + static_cast<std::int64_t>(e));
      from_.push_back(first_node + features.edge_src[e]);
      to_.push_back(first_node + features.edge_dst[e]);
    }
  }

  const TorchEncoder& encoder_;
  const Observations& batch_;
  const SlotShape& slot_;
  std::size_t width_;
  std::vector<std::int64_t> place_of_;    // [graphs], in the list; -1: not there
  std::vector<std::int64_t> first_edge_;  // [graphs], among those of distinct ones
  std::vector<std::int64_t> place_;       // [B], in the list
  std::vector<std::int64_t> first_node_;  // [B]
  // Of the list.
  std::vector<std::size_t> ends_;
  std::vector<float> inputs_;
  std::vector<std::int64_t> edge_, from_, to_;
  // Of distinct graphs.
  std::vector<float> edge_features_;
  std::int64_t edges_ = 0;
};

TorchEncoding TorchEncoder::encode(const Observations& batch) const {
  const Listing listing(*this, batch);
  GraphList graphs = listing.graphs();
  if (slot_.focus) graphs.focus = listing.focus();
  if (slot_.encoder->kind == EncoderKind::kTwoWay) graphs.sets = listing.sets();
  const Operations operations(graphs);
  TorchEncoding out;
  out.first_node = listing.first_node();
  out.nodes = run_graph_encoder(operations, layers_);
  out.context = run_graph_context(operations, layers_, out.nodes, slot_.focus);
  return out;
}

}  // namespace pacml::model
