#include "learner/reward_rate.h"

#include <cmath>
#include <numeric>

namespace pacml::learner {
namespace {

// Decisions after which one weighs 1/e.
constexpr double kMemory = 131'072;

constexpr const char* kRewards = "reward_rate_rewards";
constexpr const char* kElapsed = "reward_rate_elapsed";

double real_or_zero(const AlgorithmState& state, const char* name) {
  const auto it = state.reals.find(name);
  return it != state.reals.end() ? it->second : 0;
}

}  // namespace

RewardSums reward_sums(const TrainBatch& batch) {
  return {.decisions = static_cast<double>(batch.decisions()),
          .rewards = std::accumulate(batch.rewards.begin(), batch.rewards.end(), 0.0),
          .elapsed = std::accumulate(batch.elapsed.begin(), batch.elapsed.end(), 0.0)};
}

void RewardRate::take_in(const RewardSums& sums) {
  const double kept = std::exp(-sums.decisions / kMemory);
  rewards_ = rewards_ * kept + sums.rewards;
  elapsed_ = elapsed_ * kept + sums.elapsed;
}

bool RewardRate::is_finite() const { return std::isfinite(rewards_) && std::isfinite(elapsed_); }

void RewardRate::save(AlgorithmState& state) const {
  state.reals[kRewards] = rewards_;
  state.reals[kElapsed] = elapsed_;
}

RewardRate RewardRate::saved_in(const AlgorithmState& state) {
  RewardRate out;
  out.rewards_ = real_or_zero(state, kRewards);
  out.elapsed_ = real_or_zero(state, kElapsed);
  return out;
}

}  // namespace pacml::learner
