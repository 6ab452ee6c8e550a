#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "common/work_crew.h"
#include "model/trainable_network.h"

namespace pacml::model {

// One network to those who train it; inside, each row of a batch goes through one of several
// networks with the same weights, each on a thread of its own, and gradients are summed, in an
// order that depends on nothing but the batch. So outputs are those of a single network, and
// gradients but for rounding. Where networks read graphs, each runs over all graphs of its rows.
class ParallelNetwork final : public TrainableNetwork {
 public:
  // Networks of one shape (PACML_CHECK), at least one. The first one's weights are the weights.
  explicit ParallelNetwork(std::vector<std::unique_ptr<TrainableNetwork>> networks);

  [[nodiscard]] const NetworkShape& shape() const override { return lead().shape(); }
  [[nodiscard]] const ParameterLayout& layout() const override { return lead().layout(); }
  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override;
  [[nodiscard]] std::span<float> parameters() override { return lead().parameters(); }
  [[nodiscard]] std::span<const float> parameters() const override { return lead().parameters(); }
  void hold_value() override;
  [[nodiscard]] Outputs forward(const Observations& batch) override;
  void prepare(const Observations& batch) override;
  [[nodiscard]] Outputs forward_rows(std::span<const std::uint32_t> rows) override;
  [[nodiscard]] std::span<float> backward(std::span<const float> logit_gradients,
                                          std::span<const float> value_gradients) override;

 private:
  // What one thread has.
  struct Part {
    std::unique_ptr<TrainableNetwork> network;
    Observations batch;                 // its rows of the batch of forward()
    Observations prepared;              // ... of prepare()
    std::vector<std::uint32_t> rows;    // among `prepared`, those of forward_rows()
    std::vector<std::uint32_t> places;  // of its rows among the outputs; empty: it has none
    std::vector<float> logit_gradients, value_gradients;
    std::span<const float> gradient;
  };

  [[nodiscard]] TrainableNetwork& lead() { return *parts_.front().network; }
  [[nodiscard]] const TrainableNetwork& lead() const { return *parts_.front().network; }
  // The first of a batch's `rows` that is part number `part`'s.
  [[nodiscard]] std::size_t first_row(std::size_t rows, std::size_t part) const {
    return rows * part / parts_.size();
  }
  // Runs every part that has rows, with the newest weights, and puts its outputs in their places.
  template <class Forward>
  Outputs run(std::size_t rows, const Forward& forward);

  std::vector<Part> parts_;
  std::size_t num_prepared_ = 0;  // rows
  std::vector<float> logits_, values_;
  std::vector<float> gradient_;
  WorkCrew crew_;
};

}  // namespace pacml::model
