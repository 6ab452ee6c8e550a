#pragma once

// Internal to pacml_model_torch: a slot's encoder on tensors, float32 on the CPU.

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/experience/observations.h"
#include "env/graph_features.h"
#include "model/encoders/graph_encoder.h"
#include "model/encoders/relatives.h"
#include "model/torch_forward.h"

namespace pacml::model {

struct TorchLayer {
  at::Tensor weight;
  at::Tensor bias;  // undefined: none
};
// The layer NAME, which has a bias.
[[nodiscard]] TorchLayer linear_layer(const NamedParts& parts, const std::string& name);
[[nodiscard]] at::Tensor apply(const TorchLayer& layer, const at::Tensor& rows);

// What an encoder says of a batch.
struct TorchEncoding {
  at::Tensor nodes;                      // [nodes of all graphs that were looked at, width]
  std::vector<std::int64_t> first_node;  // [B]: where those of each decision's graph begin
  at::Tensor context;                    // [B, slot.context_width()]
};

// Looks at a graph once, however many decisions show it, where the slot is static. Thread-confined.
class TorchEncoder {
 public:
  // Pre: the slot has an encoder (PACML_CHECK).
  TorchEncoder(const SlotShape& slot, std::size_t slot_index, const NamedParts& parts);

  // Graphs that later rows refer to by index; those of other slots may be among them.
  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs);
  // Pre: every row shows a graph of this slot, and a focus within it (PACML_CHECK).
  [[nodiscard]] TorchEncoding encode(const Observations& batch) const;

 private:
  struct Graph {
    env::GraphFeaturesPtr features;
    std::vector<float> edges;  // features, squashed
    bool is_ours = false;
    std::optional<Ancestry> ancestry;  // where the focus's relatives are looked at
  };
  class Listing;

  SlotShape slot_;
  std::size_t slot_index_;
  GraphEncoderLayers<TorchLayer, TorchLayer> layers_;
  std::vector<Graph> graphs_;
};

}  // namespace pacml::model
