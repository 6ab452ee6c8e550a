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
#include "model/parameters.h"
#include "model/policy.h"
#include "model/trainable_network.h"

namespace pacml::model {

// The state that row b is in: the number in its first global feature.
inline std::size_t table_state(const Observations& batch, std::size_t b, std::size_t states) {
  const auto state = static_cast<std::size_t>(batch.globals(b)[0]);
  PACML_CHECK(state < states, "a state of the table");
  return state;
}

// Weights in TabularNetwork's order, looked up for each row of a batch.
inline void read_table(std::span<const float> weights, std::size_t states,
                       const Observations& batch, PolicyOutput& out) {
  const std::size_t actions = batch.num_candidates();
  out.logits.resize(batch.size() * actions);
  out.values.resize(batch.size());
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const std::size_t state = table_state(batch, b, states);
    for (std::size_t a = 0; a < actions; ++a) {
      out.logits[b * actions + a] =
          batch.mask(b)[a] != 0 ? weights[state * actions + a] : kMaskedLogit;
    }
    out.values[b] = weights[states * actions + state] + weights.back();
  }
}

// Its weights: logits [states, actions], values [states], and a value for all.
inline ParameterLayout tabular_layout(std::size_t states, int actions) {
  const auto rows = static_cast<std::int64_t>(states);
  ParameterLayout layout;
  const auto add = [&layout](std::string name, std::vector<std::int64_t> shape) {
    std::size_t size = 1;
    for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
    layout.entries.push_back({std::move(name), std::move(shape), layout.total, size});
    layout.total += size;
  };
  add("logits.weight", {rows, actions});
  add("value.weight", {rows});
  add("value.bias", {1});
  layout.hash = hash_entries(layout.entries);
  return layout;
}

// The simplest network there is: a table of logits and values. The state is the number in the first
// global feature. V(s) = value.weight[s] + value.bias. For tests of algorithms without a library.
class TabularNetwork final : public TrainableNetwork {
 public:
  TabularNetwork(std::size_t states, int globals, int actions)
      : states_(states), layout_(tabular_layout(states, actions)) {
    shape_.slots.resize(1);
    shape_.globals = globals;
    shape_.actions = actions;
    values_.assign(layout_.total, 0.0F);
  }

  [[nodiscard]] const NetworkShape& shape() const override { return shape_; }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  void set_graphs(std::span<const env::GraphFeaturesPtr>) override {}
  [[nodiscard]] std::span<float> parameters() override { return values_; }
  [[nodiscard]] std::span<const float> parameters() const override { return values_; }

  [[nodiscard]] Outputs forward(const Observations& batch) override {
    batch_ = batch;
    read_table(values_, states_, batch, out_);
    return {out_.logits, out_.values};
  }

  [[nodiscard]] std::span<float> backward(std::span<const float> logit_gradients,
                                          std::span<const float> value_gradients) override {
    const std::size_t actions = batch_.num_candidates();
    gradients_.assign(layout_.total, 0.0F);
    for (std::size_t b = 0; b < batch_.size(); ++b) {
      const std::size_t state = table_state(batch_, b, states_);
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
  std::size_t states_;
  NetworkShape shape_;
  ParameterLayout layout_;
  std::vector<float> values_;
  std::vector<float> gradients_;
  PolicyOutput out_;
  Observations batch_;
};

// The same table without gradients.
class TabularPolicy final : public Policy {
 public:
  TabularPolicy(std::size_t states, int actions)
      : states_(states), layout_(tabular_layout(states, actions)) {}
  void set_graphs(std::span<const env::GraphFeaturesPtr>) override {}
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  void set_parameters(const Parameters& parameters) override {
    PACML_CHECK(fits(parameters, layout_), "parameters of another network");
    weights_ = parameters.values;
  }
  void evaluate(const Observations& batch, PolicyOutput& out) override {
    read_table(weights_, states_, batch, out);
  }

 private:
  std::size_t states_;
  ParameterLayout layout_;
  std::vector<float> weights_;
};

}  // namespace pacml::model
