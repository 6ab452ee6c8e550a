#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "model/layout.h"
#include "model/network_constants.h"
#include "model/trainable_network.h"

namespace pacml::model {

// The simplest network there is: a table of logits and values. The state is the number in the first
// global feature. V(s) = value.weight[s] + value.bias. For tests of algorithms without a library.
class TabularNetwork final : public TrainableNetwork {
 public:
  TabularNetwork(std::size_t states, int globals, int actions) : states_(states) {
    shape_.globals = globals;
    shape_.actions = actions;
    const auto rows = static_cast<std::int64_t>(states);
    add("logits", {rows, actions});
    add("value.weight", {rows});
    add("value.bias", {1});
    layout_.hash = hash_entries(layout_.entries);
    values_.assign(layout_.total, 0.0F);
  }

  [[nodiscard]] const NetworkShape& shape() const override { return shape_; }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  void set_graphs(std::span<const env::GraphFeaturesPtr>) override {}
  [[nodiscard]] std::span<float> parameters() override { return values_; }
  [[nodiscard]] std::span<const float> parameters() const override { return values_; }

  [[nodiscard]] Outputs forward(const env::ObservationBatch& batch) override {
    const std::size_t actions = batch.num_actions();
    batch_ = batch;
    logits_.resize(batch.size() * actions);
    outputs_.resize(batch.size());
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const std::size_t state = state_of(b);
      for (std::size_t a = 0; a < actions; ++a) {
        logits_[b * actions + a] =
            batch.mask(b)[a] != 0 ? values_[state * actions + a] : kMaskedLogit;
      }
      outputs_[b] = values_[states_ * actions + state] + values_.back();
    }
    return {logits_, outputs_};
  }

  [[nodiscard]] std::span<float> backward(std::span<const float> logit_gradients,
                                          std::span<const float> value_gradients) override {
    const std::size_t actions = batch_.num_actions();
    gradients_.assign(layout_.total, 0.0F);
    for (std::size_t b = 0; b < batch_.size(); ++b) {
      const std::size_t state = state_of(b);
      for (std::size_t a = 0; a < actions; ++a) {
        if (batch_.mask(b)[a] == 0) continue;
        gradients_[state * actions + a] += logit_gradients[b * actions + a];
      }
      gradients_[states_ * actions + state] += value_gradients[b];
      gradients_.back() += value_gradients[b];
    }
    return gradients_;
  }

 private:
  void add(std::string name, std::vector<std::int64_t> shape) {
    std::size_t size = 1;
    for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
    layout_.entries.push_back({std::move(name), std::move(shape), layout_.total, size});
    layout_.total += size;
  }
  [[nodiscard]] std::size_t state_of(std::size_t b) const {
    const auto state = static_cast<std::size_t>(batch_.globals(b)[0]);
    PACML_CHECK(state < states_, "a state of the table");
    return state;
  }

  std::size_t states_;
  NetworkShape shape_;
  ParameterLayout layout_;
  std::vector<float> values_;
  std::vector<float> gradients_;
  std::vector<float> logits_;
  std::vector<float> outputs_;
  env::ObservationBatch batch_;
};

}  // namespace pacml::model
