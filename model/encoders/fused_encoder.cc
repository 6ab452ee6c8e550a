#include "model/encoders/fused_encoder.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <variant>

#include "common/check.h"
#include "model/edge_order.h"
#include "model/encoders/graph_encoder.h"
#include "model/encoders/relatives.h"
#include "model/encoders/slot_inputs.h"
#include "model/pool.h"

namespace pacml::model {

// Rows are memory of the encoder's: of nodes, or the single one of the decision.
class FusedEncoder::Operations {
 public:
  // `graph`: what the decision shows; `focus`: its node, where it names one.
  Operations(FusedEncoder& encoder, Graph& graph, std::size_t focus)
      : encoder_(encoder),
        graph_(graph),
        nodes_(static_cast<std::size_t>(graph.features->num_nodes)),
        focus_(focus) {}

  struct Rows {
    float* data;
    std::size_t count;
    std::size_t width;
    [[nodiscard]] std::size_t stride() const { return padded(width); }
    [[nodiscard]] float* operator[](std::size_t row) const { return data + row * stride(); }
    [[nodiscard]] std::span<float> all() const { return {data, count * stride()}; }
  };
  struct Inputs {
    const float* data;
    std::size_t count;
    std::size_t row_stride;
    [[nodiscard]] std::size_t stride() const { return row_stride; }
  };

  [[nodiscard]] Inputs inputs() const {
    return {graph_.inputs.data(), nodes_, encoder_.input_stride()};
  }
  template <class AnyRows>
  [[nodiscard]] Rows linear(const PackedLinear& layer, const AnyRows& rows) {
    const Rows out = more(rows.count, layer.width);
    encoder_.kernel_.linear(layer, rows.data, rows.stride(), rows.count, out.data);
    return out;
  }
  [[nodiscard]] Rows norm(const PackedNorm& layer, Rows rows) {
    const Rows out = more(rows.count, rows.width);
    encoder_.kernel_.norm(layer, rows.data, rows.count, out.data);
    return out;
  }
  // Of what is given by && the memory is taken over.
  [[nodiscard]] static Rows relu(Rows&& rows) {
    for (float& x : rows.all()) x = std::max(x, 0.0F);
    return rows;
  }
  [[nodiscard]] static Rows add(Rows&& rows, Rows others) {
    std::ranges::transform(rows.all(), others.all(), rows.data, std::plus<>());
    return rows;
  }
  // The edges' terms are there already, block by block.
  [[nodiscard]] Rows mean_message(EdgeEnd end, Rows terms,
                                  const std::optional<PackedLinear>& edge_layer) {
    const auto at = static_cast<std::size_t>(end);
    const Edges& edges = graph_.edges[at];
    const float* edge_terms = edge_layer ? edges.terms[block_[at]++].data() : nullptr;
    const Rows out = more(terms.count, terms.width);
    encoder_.kernel_.mean_messages({nodes_, edges.first.data(), edges.other.data()}, terms.data,
                                   edge_terms, terms.stride(), out.data);
    return out;
  }
  [[nodiscard]] Rows sum_messages(EdgeEnd end, Rows rows) {
    const Edges& edges = edges_at(end);
    const Rows out = none(rows.count, rows.width);
    for (std::size_t v = 0; v < nodes_; ++v) {
      for (const std::int32_t u : edges.others_of(v)) {
        accumulate(rows, static_cast<std::size_t>(u), out[v]);
      }
    }
    return out;
  }
  [[nodiscard]] Rows where_heard(EdgeEnd end, Rows&& rows) const {
    const Edges& edges = edges_at(end);
    for (std::size_t v = 0; v < nodes_; ++v) {
      if (edges.others_of(v).empty()) std::fill_n(rows[v], rows.stride(), 0.0F);
    }
    return rows;
  }
  [[nodiscard]] Rows join(Rows rows, Rows others) {
    const Rows out = none(rows.count, rows.width + others.width);
    for (std::size_t r = 0; r < rows.count; ++r) {
      std::copy_n(others[r], others.width, std::copy_n(rows[r], rows.width, out[r]));
    }
    return out;
  }

  // What a static graph's nodes come to together is kept beside it.
  [[nodiscard]] Rows mean_and_maximum(Rows nodes) {
    std::vector<float>& pooled = graph_.pooled;
    if (pooled.empty() || !encoder_.slot_.is_static()) {
      pooled.resize(2 * nodes.width);
      model::mean_and_maximum(nodes.data, nodes.count, nodes.width, nodes.stride(), pooled.data());
    }
    return {pooled.data(), 1, pooled.size()};
  }
  [[nodiscard]] Rows sum_of(NodeSet set, Rows nodes) {
    const Rows out = none(1, nodes.width);
    if (set == NodeSet::kAll) {
      for (std::size_t v = 0; v < nodes.count; ++v) accumulate(nodes, v, out.data);
      return out;
    }
    if (!std::exchange(found_, true)) graph_.ancestry->find(focus_, encoder_.relatives_);
    for (const std::int32_t v : encoder_.relatives_.in(set)) {
      accumulate(nodes, static_cast<std::size_t>(v), out.data);
    }
    return out;
  }
  [[nodiscard]] Rows focus(Rows nodes) const {
    PACML_CHECK(focus_ < nodes.count, "a node of the graph");
    return {nodes[focus_], 1, nodes.width};
  }

 private:
  [[nodiscard]] const Edges& edges_at(EdgeEnd end) const {
    return graph_.edges[static_cast<std::size_t>(end)];
  }
  static void accumulate(Rows rows, std::size_t row, float* sum) {
    std::transform(sum, sum + rows.stride(), rows[row], sum, std::plus<>());
  }
  [[nodiscard]] Rows more(std::size_t count, std::size_t width) {
    if (used_ == encoder_.scratch_.size()) encoder_.scratch_.emplace_back();
    AlignedFloats& memory = encoder_.scratch_[used_++];
    if (memory.size() < count * padded(width)) memory.resize(count * padded(width));
    return {memory.data(), count, width};
  }
  // Zeroes.
  [[nodiscard]] Rows none(std::size_t count, std::size_t width) {
    const Rows out = more(count, width);
    std::ranges::fill(out.all(), 0.0F);
    return out;
  }

  FusedEncoder& encoder_;
  Graph& graph_;
  std::size_t nodes_;
  std::size_t focus_;
  bool found_ = false;  // the encoder's relatives are those of this focus
  std::size_t used_ = 0;
  std::array<std::size_t, 2> block_{};
};

FusedEncoder::FusedEncoder(const SlotShape& slot, std::size_t slot_index, const Kernel& kernel)
    : slot_(slot),
      slot_index_(slot_index),
      kernel_(kernel),
      width_(static_cast<std::size_t>(slot.embedding_width())),
      stride_(padded(width_)),
      context_(static_cast<std::size_t>(slot.context_width())) {
  PACML_CHECK(slot.encoder.has_value(), "a slot that is read");
}

void FusedEncoder::set_graphs(std::span<const env::GraphFeaturesPtr> graphs) {
  graphs_.clear();
  for (const auto& features : graphs) {
    Graph& graph = graphs_.emplace_back();
    graph.features = features;
    if (is_of(slot_, *features)) prepare(graph);
  }
}

void FusedEncoder::prepare(Graph& graph) const {
  const env::GraphFeatures& features = *graph.features;
  const auto nodes = static_cast<std::size_t>(features.num_nodes);
  graph.inputs.assign(nodes * input_stride(), 0.0F);
  const std::vector<float> none(nodes * static_cast<std::size_t>(slot_.dynamic_width));
  write_node_inputs(slot_, features, none, graph.inputs.data(), input_stride());
  if (!reads_edges(slot_.encoder->kind)) return;
  if (slot_.focus && slot_.encoder->kind == EncoderKind::kTwoWay) graph.ancestry.emplace(features);
  const auto width = static_cast<std::size_t>(features.edge_width);
  for (const EdgeEnd end : {EdgeEnd::kPredecessors, EdgeEnd::kSuccessors}) {
    const bool along = end == EdgeEnd::kPredecessors;
    const auto& hears = along ? features.edge_dst : features.edge_src;
    const auto& says = along ? features.edge_src : features.edge_dst;
    Edges edges;
    edges.first.assign(nodes + 1, 0);
    edges.features.assign(hears.size() * padded(width), 0.0F);
    for (const std::size_t e : edge_order(hears)) {
      std::ranges::transform(std::span(features.edge_features).subspan(e * width, width),
                             edges.features.data() + edges.other.size() * padded(width), squashed);
      edges.other.push_back(says[e]);
      ++edges.first[static_cast<std::size_t>(hears[e]) + 1];
    }
    std::partial_sum(edges.first.begin(), edges.first.end(), edges.first.begin());
    graph.edges.push_back(std::move(edges));
  }
}

void FusedEncoder::set_weights(const PackedEncoder& weights) {
  weights_ = &weights;
  for (Graph& graph : graphs_) {
    graph.has_terms = false;
    graph.embeddings.clear();
    graph.pooled.clear();
  }
}

void FusedEncoder::find_edge_terms(Graph& graph) const {
  if (graph.has_terms) return;
  graph.has_terms = true;
  for (Edges& edges : graph.edges) edges.terms.clear();
  const auto* layers = std::get_if<ResidualLayers<PackedLinear, PackedNorm>>(weights_);
  if (layers == nullptr) return;
  for (const auto& block : layers->blocks) {
    for (const auto& messages : block.messages) {
      if (!messages.edge) continue;
      Edges& edges = graph.edges[static_cast<std::size_t>(messages.from)];
      AlignedFloats& terms = edges.terms.emplace_back(edges.other.size() * stride_);
      kernel_.linear(*messages.edge, edges.features.data(), padded(messages.edge->in),
                     edges.other.size(), terms.data());
    }
  }
}

void FusedEncoder::look_at(const Observations& batch, std::size_t b) {
  PACML_CHECK(weights_ != nullptr, "an encoder reads once it has weights");
  const std::size_t index = batch.graph(b, slot_index_);
  PACML_CHECK(index < graphs_.size() && !graphs_[index].inputs.empty(),
              "a row that shows a graph of this slot");
  Graph& graph = graphs_[index];
  nodes_ = static_cast<std::size_t>(graph.features->num_nodes);
  find_edge_terms(graph);
  Operations operations(*this, graph, slot_.focus ? batch.focus(b, slot_index_) : 0);
  Operations::Rows rows{graph.embeddings.data(), nodes_, width_};
  if (!slot_.is_static()) {
    write_node_inputs(slot_, *graph.features, batch.node_features(b, slot_index_),
                      graph.inputs.data(), input_stride());
    rows = run_graph_encoder(operations, *weights_);
  } else if (graph.embeddings.empty()) {
    rows = run_graph_encoder(operations, *weights_);
    graph.embeddings.assign(rows.data, rows.data + nodes_ * stride_);
  }
  embeddings_ = rows.data;
  const auto context = run_graph_context(operations, *weights_, rows, slot_.focus);
  std::copy_n(context.data, context_.size(), context_.data());
}

std::span<const float> FusedEncoder::node(std::size_t v) const {
  PACML_CHECK(v < nodes_, "a node of the graph");
  return {embeddings_ + v * stride_, width_};
}

}  // namespace pacml::model
