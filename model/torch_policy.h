#pragma once

#include <memory>
#include <span>

#include "model/network_config.h"
#include "model/policy.h"

namespace pacml::model {

// The acting side of the network on LibTorch: what the torch-free kernel is compared with, and what
// writes an exported policy's reference outputs. Graph embeddings are kept until the graphs or the
// weights change. Thread-confined.
class TorchPolicy final : public Policy {
 public:
  // Weights start at zero.
  explicit TorchPolicy(const NetworkShape& shape);
  ~TorchPolicy() override;
  TorchPolicy(const TorchPolicy&) = delete;
  TorchPolicy& operator=(const TorchPolicy&) = delete;

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override;
  [[nodiscard]] const ParameterLayout& layout() const override;
  void set_parameters(const Parameters& parameters) override;
  void evaluate(const Observations& batch, PolicyOutput& out) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::model
