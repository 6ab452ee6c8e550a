#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "common/clock.h"
#include "common/experience/sequences.h"
#include "common/experience/transitions.h"
#include "common/result.h"
#include "env/graph_features.h"

namespace pacml::learner {

// A batch that was drawn from stored transitions.
struct SampledTransitions {
  Transitions transitions;            // [N]; validate() holds
  std::vector<double> probabilities;  // [N], of each draw, over all that is stored; in (0, 1]
  std::vector<env::GraphFeaturesPtr>
      graphs;                // those that the transitions name, in their list's order
  std::uint64_t ticket = 0;  // names the batch to its source
};

// Where a learner draws transitions from. Implementations check what peers send them: the fields
// above hold what their comments say. Thread-confined to the learner thread.
class TransitionSource {
 public:
  // What was stored, since it was last asked for or since this source was made.
  struct News {
    std::int64_t inserted = 0;            // transitions; one is one decision of an actor
    std::vector<EpisodeRecord> episodes;  // that ended meanwhile
  };

  virtual ~TransitionSource() = default;
  // The next batch. kTimeout; kStopped.
  [[nodiscard]] virtual Result<SampledTransitions> next(std::stop_token stop,
                                                        Deadline deadline) = 0;
  // The answer to a batch, exactly one for each: new priorities in the order of its rows, or none,
  // when they stay what they are. Finite and >= 0. Never waits.
  virtual void report_priorities(std::uint64_t ticket, std::span<const float> priorities) = 0;
  [[nodiscard]] virtual News take_news() = 0;
  // Batches that are ready.
  [[nodiscard]] virtual std::size_t queue_depth() const = 0;
};

}  // namespace pacml::learner
