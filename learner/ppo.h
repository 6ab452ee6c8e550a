#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/ids.h"
#include "learner/algorithm.h"
#include "learner/losses/masked_categorical.h"
#include "learner/network_algorithm.h"
#include "learner/ppo_config.h"
#include "learner/returns/sequence_returns.h"
#include "model/trainable_network.h"

namespace pacml::learner {

// PPO (Schulman et al. 2017, arXiv:1707.06347) on a network of any kind. One update is one forward
// pass over decisions and the states that follow them, returns, and then `epochs` passes over the
// decisions in shuffled minibatches, an optimiser step each, on
//
//   L = 1/M sum_n [ -min(r_n A_n, clamp(r_n, 1 - clip, 1 + clip) A_n)
//                   + value_cost/2 (V_n - v_n)^2 - entropy_cost H_n ]
//
// v_n are V-trace's targets (returns/vtrace.h) and A_n = v_n - V_n, which on policy is generalised
// advantage estimation (returns/sequence_returns.h), less their mean and over their deviation in
// the batch; centre_rewards takes the average reward off every reward first. A decision of older
// weights counts for less twice: its advantage has min(1, pi/mu), the surrogate r_n. Decisions of
// weights more than max_policy_lag updates old are left out. A pure function of the batches and of
// the seed, which shuffles. Thread-confined.
class Ppo final : public NetworkAlgorithm<SequenceAlgorithm> {
 public:
  // Borrows `network` for its life; the weights that it holds are where learning starts. Pre:
  // validate(config) holds (PACML_CHECK).
  Ppo(const PpoConfig& config, model::TrainableNetwork& network, Seed seed);

  [[nodiscard]] Result<UpdateReport> update(const TrainBatch& batch) override;

 private:
  // What the steps of an update came to, in sums over their decisions.
  struct Figures;
  // What is learned of each decision of a batch, [D].
  struct Lessons {
    std::vector<float> counts;            // 1, or 0 for those of weights that are too old
    std::span<const std::uint8_t> masks;  // [decisions, actions], of the batch or in scratch_
    SequenceReturns returns;
    std::vector<float> output_targets;  // of the values, in the unit of outputs
    std::vector<float> errors;          // of the values, in that unit
  };
  // Fills the rest of `lessons`. False: the network says nothing that can be learned from. Pre:
  // lessons.counts is filled.
  [[nodiscard]] bool look_at(const TrainBatch& batch, Lessons& lessons);
  // One optimiser step. False: nothing finite came of it.
  [[nodiscard]] bool learn(const TrainBatch& batch, const Lessons& lessons,
                           std::span<const std::uint32_t> minibatch, double learning_rate,
                           double entropy_cost, Figures& figures);

  PpoConfig config_;
  Seed seed_;
  // Kept between updates for their memory.
  MaskedCategorical policy_;
  std::vector<std::uint32_t> rows_;  // 0, 1, ...
  std::vector<std::uint8_t> scratch_;
  std::vector<std::uint8_t> masks_;  // [minibatch, actions]
  std::vector<std::int32_t> actions_;
  std::vector<float> behaviour_log_probs_, advantages_, targets_, weights_;
  std::vector<float> logit_gradients_, value_gradients_;
};

}  // namespace pacml::learner
