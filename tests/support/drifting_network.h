#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/layout.h"
#include "model/network_constants.h"
#include "model/trainable_network.h"

namespace pacml::model {

// The weights of the real network and none of its mathematics: every valid action looks alike, the
// value is the first weight, and the gradient is the value's at every weight. For tests of what
// goes on around learning, without a library.
class DriftingNetwork final : public TrainableNetwork {
 public:
  explicit DriftingNetwork(NetworkShape shape)
      : shape_(std::move(shape)), layout_(make_layout(shape_)), weights_(layout_.total) {}

  [[nodiscard]] const NetworkShape& shape() const override { return shape_; }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  void set_graphs(std::span<const env::GraphFeaturesPtr>) override {}
  [[nodiscard]] std::span<float> parameters() override { return weights_; }
  [[nodiscard]] std::span<const float> parameters() const override { return weights_; }
  [[nodiscard]] Outputs forward(const Observations& batch) override {
    logits_.resize(batch.masks().size());
    std::ranges::transform(batch.masks(), logits_.begin(),
                           [](std::uint8_t valid) { return valid != 0 ? 0.0F : kMaskedLogit; });
    values_.assign(batch.size(), weights_.front());
    return {logits_, values_};
  }
  [[nodiscard]] std::span<float> backward(std::span<const float>,
                                          std::span<const float> value_gradients) override {
    float sum = 0;
    for (const float gradient : value_gradients) sum += gradient;
    gradients_.assign(weights_.size(), sum);
    return gradients_;
  }

 private:
  NetworkShape shape_;
  ParameterLayout layout_;
  std::vector<float> weights_;
  std::vector<float> gradients_;
  std::vector<float> logits_;
  std::vector<float> values_;
};

}  // namespace pacml::model
