#pragma once

#include <optional>

#include "learner/algorithm.h"
#include "learner/graph_registry.h"
#include "learner/transition_batch.h"
#include "learner/transition_source.h"
#include "learner/updates.h"
#include "model/network_config.h"

namespace pacml::learner {

// Learns from batches that a replay has drawn, and tells it the new priorities. Thread-confined.
class ReplayUpdates final : public Updates {
 public:
  // Borrows algorithm and source for its life. `shape`: of the algorithm's network; a batch for
  // another is left out.
  ReplayUpdates(TransitionAlgorithm& algorithm, const model::NetworkShape& shape,
                TransitionSource& source);

  // An update takes whatever batches have come: of every replica its own.
  [[nodiscard]] std::int64_t needed() const override { return 1; }
  // Takes one batch, whatever the count.
  [[nodiscard]] Result<void> collect(std::int64_t count, const std::stop_token& stop,
                                     Deadline deadline, LearnerRecord& record) override;
  [[nodiscard]] std::int64_t collected() const override;
  [[nodiscard]] Result<UpdateReport> learn() override;
  [[nodiscard]] std::size_t queue_depth() const override { return source_->queue_depth(); }

 private:
  [[nodiscard]] Result<SampledTransitions> fitting_batch(const std::stop_token& stop,
                                                         Deadline deadline, LearnerRecord& record);

  TransitionAlgorithm* algorithm_;
  model::NetworkShape shape_;
  TransitionSource* source_;
  GraphRegistry graphs_;
  std::optional<SampledTransitions> sampled_;  // at hand
  TransitionBatch batch_;                      // kept between updates for its memory
};

}  // namespace pacml::learner
