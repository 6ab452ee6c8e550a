#pragma once

#include "learner/algorithm_state.h"
#include "learner/train_batch.h"

namespace pacml::learner {

// What decisions paid, and the time that they took.
struct RewardSums {
  double decisions = 0;
  double rewards = 0;
  double elapsed = 0;

  RewardSums& operator+=(const RewardSums& other) {
    decisions += other.decisions;
    rewards += other.rewards;
    elapsed += other.elapsed;
    return *this;
  }
};
// Of all decisions of a batch. Pure.
[[nodiscard]] RewardSums reward_sums(const TrainBatch& batch);

// The average reward of a unit of time, over the last hundred thousand decisions or so: what is
// taken off rewards to centre them (Naik et al. 2024, arXiv:2405.09999). Values are then
// differences between states, which do not grow with the horizon, so that the discount may be
// near 1. Thread-confined.
class RewardRate {
 public:
  // Counts decisions; those before weigh less with every one.
  void take_in(const RewardSums& sums);
  [[nodiscard]] bool started() const { return elapsed_ > 0; }
  // 0 before the first decision.
  [[nodiscard]] double value() const { return elapsed_ > 0 ? rewards_ / elapsed_ : 0; }

  [[nodiscard]] bool is_finite() const;

  // As a part of an algorithm's state. Of a state without it: one that has not started.
  void save(AlgorithmState& state) const;
  [[nodiscard]] static RewardRate saved_in(const AlgorithmState& state);

 private:
  double rewards_ = 0;
  double elapsed_ = 0;
};

}  // namespace pacml::learner
