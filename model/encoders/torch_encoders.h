#pragma once

// Internal to pacml_model_torch: all encoders of a network.

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/encoders/torch_encoder.h"
#include "model/network_config.h"

namespace pacml::model {

// What a head reads of a batch's graphs. Thread-confined.
class TorchEncoders {
 public:
  TorchEncoders(const NetworkShape& shape, const NamedParts& parts);

  // As TorchEncoder's.
  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs);

  struct Context {
    at::Tensor values;  // [B, shape.context_width()]: of every encoder, then who decides
    // Of the slot whose nodes the candidates are; nullopt: it has no encoder, or they are none.
    std::optional<TorchEncoding> candidates;
  };
  // Pre: as TorchEncoder::encode; the context has a width (PACML_CHECK).
  [[nodiscard]] Context encode(const Observations& batch) const;

 private:
  int agents_;
  std::vector<TorchEncoder> encoders_;       // of the slots that have one
  std::optional<std::size_t> node_encoder_;  // the one whose nodes the candidates are
};

}  // namespace pacml::model
