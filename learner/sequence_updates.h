#pragma once

#include <cstdint>
#include <vector>

#include "learner/algorithm.h"
#include "learner/graph_registry.h"
#include "learner/sample_source.h"
#include "learner/train_batch.h"
#include "learner/updates.h"
#include "model/network_config.h"

namespace pacml::learner {

// Gathers messages of sequences into batches; each is learned from once. Thread-confined.
class SequenceUpdates final : public Updates {
 public:
  // Borrows algorithm and source for its life. `shape`: of the algorithm's network; experience for
  // another is left out. `batch_decisions`: an update waits for at least so many.
  SequenceUpdates(SequenceAlgorithm& algorithm, const model::NetworkShape& shape,
                  SampleSource& source, std::int64_t batch_decisions);

  [[nodiscard]] std::int64_t needed() const override { return batch_decisions_; }
  [[nodiscard]] Result<void> collect(std::int64_t count, const std::stop_token& stop,
                                     Deadline deadline, LearnerRecord& record) override;
  [[nodiscard]] std::int64_t collected() const override { return gathered_decisions_; }
  [[nodiscard]] Result<UpdateReport> learn() override;
  [[nodiscard]] std::size_t queue_depth() const override { return source_->queue_depth(); }

 private:
  // False: it does not fit, and was counted.
  bool accept(ReceivedSequences&& received, LearnerRecord& record);

  SequenceAlgorithm* algorithm_;
  model::NetworkShape shape_;
  SampleSource* source_;
  std::int64_t batch_decisions_;
  GraphRegistry graphs_;
  std::vector<ReceivedSequences> gathered_;
  std::int64_t gathered_decisions_ = 0;
  // Kept between updates for their memory.
  std::vector<const Sequences*> messages_;
  TrainBatch batch_;
};

}  // namespace pacml::learner
