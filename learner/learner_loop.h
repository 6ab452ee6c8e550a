#pragma once

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "common/histogram.h"
#include "learner/algorithm.h"
#include "learner/graph_registry.h"
#include "learner/sample_source.h"
#include "learner/train_batch.h"
#include "model/trainable_network.h"

namespace pacml::learner {

// What a learner has done since its run began; in checkpoints. Value type.
struct LearnerCounters {
  std::int64_t updates = 0;
  std::int64_t decisions = 0;  // received
  std::int64_t samples = 0;    // learned from
  std::int64_t stale = 0;      // left out: their weights were too old
  std::int64_t misfits = 0;    // messages for another network
  std::int64_t episodes = 0;
  bool operator==(const LearnerCounters&) const = default;
};

// What happened since the statistics were last taken, for metrics.
struct LearnerStatistics {
  Histogram policy_lag;  // versions, of every decision received
  double loss_sum = 0;
  std::map<std::string, double> scalar_sums;  // of each update's scalars
  std::int64_t updates = 0;
  std::int64_t episodes = 0;
  double return_sum = 0;
  double blocking_rate_sum = 0;
};

// Gathers messages into batches, updates, publishes. One algorithm, any source. Thread-confined.
class LearnerLoop {
 public:
  // Borrows everything for its life. `batch_decisions`: an update waits for at least so many.
  LearnerLoop(Algorithm& algorithm, model::TrainableNetwork& network, SampleSource& source,
              ParametersSink& sink, std::int64_t batch_decisions);

  // One update, or kTimeout when the experience for it did not come in time (what came is kept), or
  // kStopped.
  [[nodiscard]] Result<void> step(const std::stop_token& stop, Deadline deadline);

  void publish() { sink_->publish(algorithm_->snapshot()); }

  [[nodiscard]] const LearnerCounters& counters() const { return counters_; }
  // Goes on from a checkpoint that the algorithm was restored from.
  void restore(const LearnerCounters& counters) {
    counters_ = counters;
    version_ = algorithm_->snapshot().version.get();
  }
  // Hands over the statistics and starts new ones.
  [[nodiscard]] LearnerStatistics take_statistics();

 private:
  void accept(ReceivedUnrolls&& received);
  void count(const Unrolls& unrolls);

  Algorithm* algorithm_;
  model::TrainableNetwork* network_;
  SampleSource* source_;
  ParametersSink* sink_;
  std::int64_t batch_decisions_;
  GraphRegistry graphs_;
  std::vector<ReceivedUnrolls> gathered_;
  std::int64_t gathered_decisions_ = 0;
  std::vector<const Unrolls*> messages_;  // scratch
  TrainBatch batch_;
  LearnerCounters counters_;
  LearnerStatistics statistics_;
  std::uint64_t version_ = 0;  // of the weights that learning is at
};

}  // namespace pacml::learner
