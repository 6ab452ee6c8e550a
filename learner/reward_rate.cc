#include "learner/reward_rate.h"

#include <cmath>
#include <cstddef>

namespace pacml::learner {
namespace {

// Decisions after which one weighs 1/e.
constexpr double kMemory = 131'072;

constexpr const char* kRewards = "reward_rate_rewards";
constexpr const char* kElapsed = "reward_rate_elapsed";

double real_of(const AlgorithmState& state, const char* name) {
  const auto it = state.reals.find(name);
  return it != state.reals.end() ? it->second : 0;
}

}  // namespace

void RewardRate::take_in(const TrainBatch& batch) {
  const double kept = std::exp(-static_cast<double>(batch.decisions()) / kMemory);
  rewards_ *= kept;
  elapsed_ *= kept;
  for (std::size_t i = 0; i < batch.decisions(); ++i) {
    rewards_ += double{batch.rewards[i]};
    elapsed_ += double{batch.elapsed[i]};
  }
}

void RewardRate::save(AlgorithmState& state) const {
  state.reals[kRewards] = rewards_;
  state.reals[kElapsed] = elapsed_;
}

void RewardRate::restore(const AlgorithmState& state) {
  rewards_ = real_of(state, kRewards);
  elapsed_ = real_of(state, kElapsed);
}

}  // namespace pacml::learner
