#pragma once

// Internal to pacml_model_torch: a network on tensors, without the bookkeeping of who trains it or
// acts with it.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>

#include "common/experience/observations.h"
#include "env/graph_features.h"
#include "model/network_config.h"
#include "model/parameters.h"
#include "model/torch_forward.h"

namespace pacml::model {

// Thread-confined. Gradients are recorded as torch's thread-local mode says.
class TorchModel {
 public:
  virtual ~TorchModel() = default;
  // Graphs that later batches refer to by index.
  virtual void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) = 0;
  // As TrainableNetwork::hold_value().
  virtual void hold_value() {}
  // The weights' memory holds others now.
  virtual void weights_changed() = 0;
  // Pre: not empty, of the shape's widths, with graphs that were set (PACML_CHECK).
  [[nodiscard]] virtual Heads forward(const Observations& batch) = 0;
  // Derives what it needs of a batch, for forward_rows(). False: that would not pay.
  [[nodiscard]] virtual bool prepare(const Observations& /*batch*/) { return false; }
  // forward() over these rows of what prepare() derived, in this order. Pre: that was true.
  [[nodiscard]] virtual Heads forward_rows(std::span<const std::uint32_t> /*rows*/) { return {}; }
};

// `parts`: one tensor per layout entry, in the layout's order; the model keeps them.
[[nodiscard]] std::unique_ptr<TorchModel> make_torch_model(const NetworkShape& shape,
                                                           const ParameterLayout& layout,
                                                           std::span<const at::Tensor> parts);

// The kinds that it makes (network_config.h, head).
[[nodiscard]] std::unique_ptr<TorchModel> make_torch_dense(const NetworkShape& shape,
                                                           const NamedParts& parts);
[[nodiscard]] std::unique_ptr<TorchModel> make_torch_candidates(const NetworkShape& shape,
                                                                const NamedParts& parts);
[[nodiscard]] std::unique_ptr<TorchModel> make_torch_perceptron(const NetworkShape& shape,
                                                                const NamedParts& parts);

}  // namespace pacml::model
