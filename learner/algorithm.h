#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/ids.h"
#include "common/result.h"
#include "env/graph_features.h"
#include "learner/algorithm_state.h"
#include "learner/train_batch.h"
#include "learner/transition_batch.h"
#include "model/parameters.h"

namespace pacml::learner {

// What became of an update. But for kApplied, weights and optimiser are as they were.
enum class Outcome {
  kNothingFresh,  // no decision to learn from
  kApplied,
  kDiverged,  // outputs, loss, gradient, the new weights or the optimiser were not finite
};

// What one update did, for metrics and for a replay.
struct UpdateReport {
  Outcome outcome = Outcome::kNothingFresh;
  double loss = 0;
  std::int64_t decisions = 0;   // learned from, by all replicas
  std::int64_t stale = 0;       // left out: too many versions old
  std::int64_t unfinished = 0;  // left out: of episodes whose end is not known
  std::vector<std::pair<std::string_view, double>> scalars;  // names are string literals
  // Of this learner's batch of transitions, one per row: how much is left to learn from it, in the
  // unit of rewards, finite and >= 0. Empty where nothing was applied, and for sequences.
  std::vector<float> priorities;
};

// One way to learn from experience; what it learns from says a class below. Thread-confined to the
// learner thread.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  // Graphs that later batches refer to by index; replaces the former list.
  virtual void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) = 0;
  // How much of what there was to do when learning began or went on (restore()) is done when the
  // next update comes, in [0, 1], for schedules over the run. Where it is never said, there is no
  // end, and they follow the decisions from where they were.
  virtual void set_share_done(double share) = 0;
  // The number of updates, which names the weights.
  [[nodiscard]] virtual PolicyVersion version() const = 0;
  // The weights to act with, as a copy that another thread may use, at version().
  [[nodiscard]] virtual model::Parameters snapshot() const = 0;
  [[nodiscard]] virtual AlgorithmState save() const = 0;
  // Goes on from `state`, exactly. kVersionMismatch: of another algorithm or network, said in a
  // sentence; nothing has changed.
  [[nodiscard]] virtual Result<void> restore(const AlgorithmState& state) = 0;
};

// An update is one optimiser step on what all replicas of the learner bring (replicas/
// replica_group.h), each its own batch, the same for all; a batch of nothing is a part, too. The
// batch is borrowed for the call, and its graphs are among those that were set. An error is the
// group's: the weights are as they were, but other replicas may have made the step.

// Learns from sequences of decisions, each sequence once and soon.
class SequenceAlgorithm : public Algorithm {
 public:
  [[nodiscard]] virtual Result<UpdateReport> update(const TrainBatch& batch) = 0;
  // Whether every decision of a batch must have been searched.
  [[nodiscard]] virtual bool learns_from_searches() const { return false; }
};

// Learns from single transitions, in any order and again and again.
class TransitionAlgorithm : public Algorithm {
 public:
  [[nodiscard]] virtual Result<UpdateReport> update(const TransitionBatch& batch) = 0;
};

}  // namespace pacml::learner
