#include "model/encoders/fused_encoder.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>

#include "common/check.h"
#include "model/edge_order.h"
#include "model/encoders/graph_encoder.h"
#include "model/encoders/slot_inputs.h"
#include "model/pool.h"

namespace pacml::model {

// Rows are memory of the encoder's, of stride_ floats a node.
class FusedEncoder::Operations {
 public:
  Operations(FusedEncoder& encoder, const Graph& graph)
      : encoder_(encoder),
        graph_(graph),
        nodes_(static_cast<std::size_t>(graph.features->num_nodes)) {}

  struct Rows {
    float* data;
  };
  struct Inputs {
    const float* data;
    std::size_t stride;
  };

  [[nodiscard]] Inputs inputs() const { return {graph_.inputs.data(), encoder_.input_stride()}; }
  [[nodiscard]] Rows linear(const PackedLinear& layer, Inputs inputs) {
    const Rows out = more();
    encoder_.kernel_.linear(layer, inputs.data, inputs.stride, nodes_, out.data);
    return out;
  }
  [[nodiscard]] Rows linear(const PackedLinear& layer, Rows rows) {
    return linear(layer, Inputs{rows.data, encoder_.stride_});
  }
  [[nodiscard]] Rows norm(const PackedNorm& layer, Rows rows) {
    const Rows out = more();
    encoder_.kernel_.norm(layer, rows.data, nodes_, out.data);
    return out;
  }
  [[nodiscard]] Rows relu(Rows rows) const {
    for (float& x : all(rows)) x = std::max(x, 0.0F);
    return rows;
  }
  [[nodiscard]] Rows add(Rows rows, Rows others) const {
    std::ranges::transform(all(rows), all(others), rows.data, std::plus<>());
    return rows;
  }
  // The edges' terms are there already, block by block.
  [[nodiscard]] Rows mean_message(EdgeEnd end, Rows terms,
                                  const std::optional<PackedLinear>& edge_layer) {
    const auto at = static_cast<std::size_t>(end);
    const Edges& edges = graph_.edges[at];
    const float* edge_terms = edge_layer ? edges.terms[block_[at]++].data() : nullptr;
    const Rows out = more();
    encoder_.kernel_.mean_messages({nodes_, edges.first.data(), edges.other.data()}, terms.data,
                                   edge_terms, encoder_.stride_, out.data);
    return out;
  }

 private:
  [[nodiscard]] std::span<float> all(Rows rows) const {
    return {rows.data, nodes_ * encoder_.stride_};
  }
  [[nodiscard]] Rows more() {
    if (used_ == encoder_.scratch_.size()) encoder_.scratch_.emplace_back();
    AlignedFloats& memory = encoder_.scratch_[used_++];
    if (memory.size() < nodes_ * encoder_.stride_) memory.resize(nodes_ * encoder_.stride_);
    return {memory.data()};
  }

  FusedEncoder& encoder_;
  const Graph& graph_;
  std::size_t nodes_;
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
  if (slot_.encoder->kind != EncoderKind::kMessagePassing) return;
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
  for (Graph& graph : graphs_) graph.has_terms = graph.is_embedded = false;
}

void FusedEncoder::find_edge_terms(Graph& graph) const {
  if (graph.has_terms) return;
  graph.has_terms = true;
  for (Edges& edges : graph.edges) edges.terms.clear();
  for (const auto& block : weights_->blocks) {
    for (const auto& messages : block.messages) {
      if (!messages.edge) continue;
      Edges& edges = graph.edges[static_cast<std::size_t>(messages.from)];
      AlignedFloats& terms = edges.terms.emplace_back(edges.other.size() * stride_);
      kernel_.linear(*messages.edge, edges.features.data(), padded(messages.edge->in),
                     edges.other.size(), terms.data());
    }
  }
}

const float* FusedEncoder::run(Graph& graph) {
  find_edge_terms(graph);
  Operations operations(*this, graph);
  return run_graph_encoder(operations, *weights_).data;
}

void FusedEncoder::look_at(const Observations& batch, std::size_t b) {
  PACML_CHECK(weights_ != nullptr, "an encoder reads once it has weights");
  const std::size_t index = batch.graph(b, slot_index_);
  PACML_CHECK(index < graphs_.size() && !graphs_[index].inputs.empty(),
              "a row that shows a graph of this slot");
  Graph& graph = graphs_[index];
  nodes_ = static_cast<std::size_t>(graph.features->num_nodes);
  if (!slot_.is_static()) {
    write_node_inputs(slot_, *graph.features, batch.node_features(b, slot_index_),
                      graph.inputs.data(), input_stride());
    embeddings_ = run(graph);
    mean_and_maximum(embeddings_, nodes_, width_, stride_, context_.data());
  } else {
    if (!graph.is_embedded) {
      const float* rows = run(graph);
      graph.embeddings.assign(rows, rows + nodes_ * stride_);
      graph.pooled.resize(2 * width_);
      mean_and_maximum(rows, nodes_, width_, stride_, graph.pooled.data());
      graph.is_embedded = true;
    }
    embeddings_ = graph.embeddings.data();
    std::ranges::copy(graph.pooled, context_.begin());
  }
  if (slot_.focus) {
    std::ranges::copy(node(batch.focus(b, slot_index_)), context_.data() + 2 * width_);
  }
}

std::span<const float> FusedEncoder::node(std::size_t v) const {
  PACML_CHECK(v < nodes_, "a node of the graph");
  return {embeddings_ + v * stride_, width_};
}

}  // namespace pacml::model
