#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "learner/train_batch.h"
#include "model/parameters.h"

namespace pacml::learner {

// What one update did, for metrics.
struct UpdateReport {
  bool applied = false;  // false: the weights are as they were (no fresh decision, or a
                         // gradient that was not finite)
  double loss = 0;
  std::int64_t decisions = 0;                                // learned from
  std::int64_t stale = 0;                                    // left out: too many versions old
  std::vector<std::pair<std::string_view, double>> scalars;  // names are string literals
};

// Everything that an algorithm's next update depends on, by name, so that a checkpoint needs to
// know no algorithm. Names hold no '/'. Value type.
struct AlgorithmState {
  std::string algorithm;  // which one wrote it
  std::map<std::string, std::vector<float>> vectors;
  std::map<std::string, double> reals;
  std::map<std::string, std::int64_t> counts;
  bool operator==(const AlgorithmState&) const = default;
};

// One way to learn from experience. Thread-confined to the learner thread.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  // One optimiser step. `batch` is borrowed for the call; its graphs are among those that the
  // network was given.
  [[nodiscard]] virtual UpdateReport update(const TrainBatch& batch) = 0;
  // The weights to act with, as a copy that another thread may use. The version is the number of
  // updates.
  [[nodiscard]] virtual model::Parameters snapshot() const = 0;
  [[nodiscard]] virtual AlgorithmState save() const = 0;
  // Goes on from `state`, exactly. kVersionMismatch: of another algorithm or network, said in a
  // sentence; nothing has changed.
  [[nodiscard]] virtual Result<void> restore(const AlgorithmState& state) = 0;
};

}  // namespace pacml::learner
