#pragma once

#include <span>
#include <vector>

#include "learner/losses/masked_categorical.h"
#include "learner/returns/vtrace.h"
#include "learner/train_batch.h"

namespace pacml::learner {

// What is learned from a batch of sequences, one for each decision [D].
struct SequenceReturns {
  std::vector<float> targets;     // of values, in the unit of scaled rewards
  std::vector<float> advantages;  // in the same unit; times their ratios
  std::vector<float> ratios;      // VtraceReturns'
  std::vector<float> log_rhos;    // log pi(a|x) - log mu(a|x)
};

struct SequenceReturnsConfig {
  double discount = 0.99;
  double reward_scale = 1;
  VtraceConfig vtrace;
  double reward_rate = 0;  // taken off every reward for each unit of time that its step took
};

// V-trace over every sequence of the batch, what follows a decision discounted by discount^elapsed.
// `policy`: of its decisions. `values`: of its decisions
// and of the states behind them, in the unit of scaled rewards [rows of the observations]. Pure.
[[nodiscard]] SequenceReturns sequence_returns(const TrainBatch& batch,
                                               const MaskedCategorical& policy,
                                               std::span<const float> values,
                                               const SequenceReturnsConfig& config);

// v_t - V_t of each decision [D], in the unit of scaled rewards. On policy that is generalised
// advantage estimation (Schulman et al. 2015, arXiv:1506.02438, eq. 16): lambda is on all that
// follows a decision; `advantages` above, delta_t + gamma (delta_{t+1} + gamma lambda ...), have
// none on the next one. Both hold the ratio of a decision of other weights. `values`: as above.
// Pure.
[[nodiscard]] std::vector<float> generalised_advantages(const SequenceReturns& returns,
                                                        std::span<const float> values);

}  // namespace pacml::learner
