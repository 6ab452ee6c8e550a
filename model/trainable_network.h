#pragma once

#include <cstdint>
#include <span>

#include "common/experience/observations.h"
#include "env/graph_features.h"
#include "model/network_config.h"
#include "model/parameters.h"

namespace pacml::model {

// The learning side of a network: outputs of a batch, then the gradient of a loss with respect to
// every weight, given the loss's gradient with respect to the outputs. A loss is therefore plain
// arithmetic on logits and values, and knows of no library. Thread-confined.
class TrainableNetwork {
 public:
  struct Outputs {
    std::span<const float> logits;  // row-major [B, A]; kMaskedLogit where the mask is 0
    std::span<const float> values;  // [B]
  };

  virtual ~TrainableNetwork() = default;

  [[nodiscard]] virtual const NetworkShape& shape() const = 0;
  [[nodiscard]] virtual const ParameterLayout& layout() const = 0;

  // Graphs that later batches refer to by index; replaces the former list. Their widths must be the
  // shape's (PACML_CHECK).
  virtual void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) = 0;

  // All weights, [layout().total], in the layout's order: the network's own memory, which an
  // optimiser changes in place between backward() and the next forward(). Stays where it is for the
  // network's whole life.
  [[nodiscard]] virtual std::span<float> parameters() = 0;
  [[nodiscard]] virtual std::span<const float> parameters() const = 0;

  // Said, for good, by whoever keeps the weights of the value at 0 and has no gradients for it:
  // every state's value is the bias, and what would come to nothing may be left out.
  virtual void hold_value() {}

  // Runs the network over a batch and records what backward() needs. The graph network runs once
  // per distinct graph of the batch. The outputs are borrowed until the next call. Pre: not empty,
  // and every graph index is below the number of graphs (PACML_CHECK).
  [[nodiscard]] virtual Outputs forward(const Observations& batch) = 0;

  // For several passes over parts of one batch: what is derived of it is derived once, where that
  // pays. Borrows the batch until the next prepare(), whose graphs must not change until then. Pre:
  // as forward().
  virtual void prepare(const Observations& batch) { prepared_ = &batch; }
  // forward() over these rows of what was prepared, in this order. Pre: not empty (PACML_CHECK).
  [[nodiscard]] virtual Outputs forward_rows(std::span<const std::uint32_t> rows);

  // The gradient of a loss L with respect to parameters(), [layout().total], exact: shared graphs
  // add up their samples' shares. `logit_gradients` is dL/dlogits [B, A] (what it says of masked
  // logits is ignored), `value_gradients` is dL/dvalues [B]. Borrowed until the next call. Pre:
  // once per forward(), shapes as in its outputs (PACML_CHECK).
  [[nodiscard]] virtual std::span<float> backward(std::span<const float> logit_gradients,
                                                  std::span<const float> value_gradients) = 0;

 private:
  const Observations* prepared_ = nullptr;
  Observations part_;
};

}  // namespace pacml::model
