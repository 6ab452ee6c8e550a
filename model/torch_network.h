#pragma once

#include <memory>
#include <span>

#include "model/trainable_network.h"

namespace pacml::model {

// The published network (network_config.h) on LibTorch's automatic differentiation. All weights are
// views into one flat tensor, and so are their gradients: clipping, the optimiser and a broadcast
// see plain contiguous floats. Torch stays behind the pointer, so that including this costs
// nothing. Thread-confined.
class TorchNetwork final : public TrainableNetwork {
 public:
  // Weights start at zero: copy initialise(shape, seed) or a checkpoint into parameters().
  explicit TorchNetwork(const NetworkShape& shape);
  ~TorchNetwork() override;
  TorchNetwork(const TorchNetwork&) = delete;
  TorchNetwork& operator=(const TorchNetwork&) = delete;

  [[nodiscard]] const NetworkShape& shape() const override;
  [[nodiscard]] const ParameterLayout& layout() const override;
  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override;
  [[nodiscard]] std::span<float> parameters() override;
  [[nodiscard]] std::span<const float> parameters() const override;
  [[nodiscard]] Outputs forward(const Observations& batch) override;
  void prepare(const Observations& batch) override;
  void hold_value() override;
  [[nodiscard]] Outputs forward_rows(std::span<const std::uint32_t> rows) override;
  [[nodiscard]] std::span<float> backward(std::span<const float> logit_gradients,
                                          std::span<const float> value_gradients) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::model
