#pragma once

#include <stop_token>
#include <utility>

#include "common/clock.h"
#include "common/result.h"
#include "learner/algorithm.h"
#include "learner/learner_record.h"
#include "learner/sample_source.h"
#include "learner/updates.h"

namespace pacml::learner {

// Updates, keeps count, publishes: whatever the algorithm and wherever its experience comes from.
// Thread-confined.
class LearnerLoop {
 public:
  // Borrows everything for its life. `updates`: of `algorithm`.
  LearnerLoop(const Algorithm& algorithm, Updates& updates, ParametersSink& sink)
      : algorithm_(&algorithm), updates_(&updates), sink_(&sink) {}

  // One update, or kTimeout when the experience for it did not come in time (what came is kept), or
  // kStopped.
  [[nodiscard]] Result<void> step(const std::stop_token& stop, Deadline deadline);

  void publish() { sink_->publish(algorithm_->snapshot()); }

  [[nodiscard]] const LearnerCounters& counters() const { return record_.counters; }
  // Goes on counting from a checkpoint that the algorithm was restored from.
  void restore(const LearnerCounters& counters) { record_.counters = counters; }
  // Hands over the statistics and starts new ones.
  [[nodiscard]] LearnerStatistics take_statistics() {
    return std::exchange(record_.statistics, {});
  }
  [[nodiscard]] std::size_t queue_depth() const { return updates_->queue_depth(); }

 private:
  const Algorithm* algorithm_;
  Updates* updates_;
  ParametersSink* sink_;
  LearnerRecord record_;
};

}  // namespace pacml::learner
