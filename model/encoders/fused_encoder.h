#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "env/graph_features.h"
#include "model/aligned.h"
#include "model/encoders/encoder_config.h"
#include "model/encoders/relatives.h"
#include "model/kernels/kernel.h"
#include "model/packed_weights.h"

namespace pacml::model {

// One slot's encoder on the acting side. What a graph comes to is kept until the weights change,
// where it depends on the graph alone. Thread-confined.
class FusedEncoder {
 public:
  // Pre: the slot has an encoder (PACML_CHECK).
  FusedEncoder(const SlotShape& slot, std::size_t slot_index, const Kernel& kernel);

  // Graphs that later rows refer to by index; those of other slots may be among them.
  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs);
  // Borrowed until the next ones.
  void set_weights(const PackedEncoder& weights);

  // What context() and node() are about from now on. Pre: the row shows a graph of this slot, and a
  // focus within it (PACML_CHECK).
  void look_at(const Observations& batch, std::size_t b);
  // [slot.context_width()]. Borrowed until the next call.
  [[nodiscard]] std::span<const float> context() const { return context_; }
  // [slot.embedding_width()]. Pre: the graph has this node (PACML_CHECK).
  [[nodiscard]] std::span<const float> node(std::size_t v) const;

 private:
  struct Edges {
    std::vector<std::int32_t> first, other;
    AlignedFloats features;            // [edges, padded edge width], squashed
    std::vector<AlignedFloats> terms;  // of each block, [edges, padded width]; by these weights
    // Whom node v hears.
    [[nodiscard]] std::span<const std::int32_t> others_of(std::size_t v) const {
      return std::span(other).subspan(static_cast<std::size_t>(first[v]),
                                      static_cast<std::size_t>(first[v + 1] - first[v]));
    }
  };
  struct Graph {
    env::GraphFeaturesPtr features;
    AlignedFloats inputs;              // [nodes, padded width]; without a decision's own features
    std::vector<Edges> edges;          // [2], at the two ends; none where no messages are passed
    std::optional<Ancestry> ancestry;  // where the focus's relatives are looked at
    bool has_terms = false;
    // By these weights; empty: not known. Kept where the slot is static.
    AlignedFloats embeddings;  // [nodes, padded width]
    std::vector<float> pooled;
  };
  class Operations;

  [[nodiscard]] std::size_t input_stride() const {
    return padded(slot_.node_width + slot_.dynamic_width);
  }
  void prepare(Graph& graph) const;
  void find_edge_terms(Graph& graph) const;

  const SlotShape slot_;
  const std::size_t slot_index_;
  const Kernel& kernel_;
  const std::size_t width_;   // of an embedding
  const std::size_t stride_;  // the same, padded
  const PackedEncoder* weights_ = nullptr;
  std::vector<Graph> graphs_;
  std::vector<AlignedFloats> scratch_;  // rows, in the order in which they are asked for
  // Of the row that is looked at.
  Relatives relatives_;  // of its focus, where they are looked at
  const float* embeddings_ = nullptr;
  std::size_t nodes_ = 0;
  std::vector<float> context_;
};

}  // namespace pacml::model
