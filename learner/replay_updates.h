#pragma once

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

  [[nodiscard]] Result<UpdateReport> next(const std::stop_token& stop, Deadline deadline,
                                          LearnerRecord& record) override;
  [[nodiscard]] std::size_t queue_depth() const override { return source_->queue_depth(); }

 private:
  [[nodiscard]] Result<SampledTransitions> fitting_batch(const std::stop_token& stop,
                                                         Deadline deadline, LearnerRecord& record);

  TransitionAlgorithm* algorithm_;
  model::NetworkShape shape_;
  TransitionSource* source_;
  GraphRegistry graphs_;
  TransitionBatch batch_;  // kept between updates for its memory
};

}  // namespace pacml::learner
