#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/encoders/fused_encoder.h"
#include "model/network_config.h"

namespace pacml::model {

// All encoders of a network on the acting side, and what a head reads of a decision besides its own
// inputs. Thread-confined.
class FusedEncoders {
 public:
  FusedEncoders(const NetworkShape& shape, const Kernel& kernel);

  // As FusedEncoder's.
  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs);
  // One of each slot that has an encoder, in their order. Borrowed until the next ones.
  void set_weights(const std::vector<PackedEncoder>& weights);

  // What context() and node() are about from now on. Pre: as FusedEncoder::look_at.
  void look_at(const Observations& batch, std::size_t b);
  // [shape.context_width()]: of every encoder, then who decides. Borrowed until the next call.
  [[nodiscard]] std::span<const float> context() const { return context_; }
  // What a node of the slot whose nodes candidates are comes to; empty: that has no encoder, or
  // they are none. Pre: the graph has this node (PACML_CHECK).
  [[nodiscard]] std::span<const float> node(std::size_t v) const {
    return node_encoder_ ? encoders_[*node_encoder_].node(v) : std::span<const float>();
  }

 private:
  int agents_;
  std::vector<FusedEncoder> encoders_;       // of the slots that have one
  std::optional<std::size_t> node_encoder_;  // the one whose nodes the candidates are
  std::vector<float> context_;
};

}  // namespace pacml::model
