#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learner/algorithm.h"
#include "learner/batch_moments.h"
#include "learner/impala_config.h"
#include "learner/losses/masked_categorical.h"
#include "learner/network_algorithm.h"
#include "learner/replicas/replica_group.h"
#include "learner/returns/sequence_returns.h"
#include "model/trainable_network.h"

namespace pacml::learner {

// IMPALA: V-trace actor-critic (Espeholt et al. 2018, arXiv:1802.01561) on a network of any kind.
// One update is one forward pass over decisions and the states that follow them, V-trace, the three
// losses, one backward pass and one optimiser step:
//
//   L = sum_i w_i [ -A_i log pi(a_i|x_i) + value_cost/2 (V_i - v_i)^2 - entropy_cost H_i ]
//
// w_i = 0 for decisions of weights more than max_policy_lag updates old, else 1, divided by their
// number for loss_reduction: mean. pi and mu are over the same valid actions. With replicas, sums,
// numbers and moments are those of all shares together. Thread-confined.
class Impala final : public NetworkAlgorithm<SequenceAlgorithm> {
 public:
  // Borrows `network` and `replicas` for its life; the weights that the network holds are where
  // learning starts. Pre: validate(config) holds (PACML_CHECK).
  Impala(const ImpalaConfig& config, model::TrainableNetwork& network,
         ReplicaGroup& replicas = alone());

  [[nodiscard]] Result<UpdateReport> update(const TrainBatch& batch) override;

 private:
  // One forward pass over this replica's share of a batch.
  struct Pass {
    std::vector<float> weights;  // [D], of each decision in the losses; empty: nothing counts
    model::TrainableNetwork::Outputs outputs;
    [[nodiscard]] std::size_t decisions() const { return weights.size(); }
    [[nodiscard]] std::span<const float> values() const {
      return outputs.values.first(decisions());
    }
  };
  // What is learned from.
  struct Targets {
    SequenceReturns returns;
    std::vector<float> outputs;  // [D], returns.targets in the unit of outputs
  };
  struct Share;   // what a replica tells of its share before the loss,
  struct Losses;  // and after it

  // The parts of an update, in this order; two of them fill in the share.
  [[nodiscard]] Pass look_at(const TrainBatch& batch, Share& share);
  // Before the first update: the average reward, whether this batch was taken into it, then the
  // unit of values.
  [[nodiscard]] Result<bool> start_rewards(const TrainBatch& batch);
  [[nodiscard]] Result<void> start_values(const TrainBatch& batch, const Pass& pass);
  [[nodiscard]] Targets make_targets(const TrainBatch& batch, const Pass& pass, Share& share) const;
  // Leaves the gradients of the outputs,
  [[nodiscard]] Losses compute_losses(const TrainBatch& batch, const Pass& pass,
                                      const Targets& targets, double entropy_cost);
  // and of the weights.
  [[nodiscard]] std::span<float> backward(const Pass& pass);
  void take_step(std::span<const float> gradient, const std::vector<Share>& shares,
                 const std::vector<Losses>& losses, UpdateReport& report);

  [[nodiscard]] bool normalises() const;
  // Nothing, where there are no outputs.
  [[nodiscard]] SequenceReturns compute_returns(const TrainBatch& batch,
                                                std::span<const float> value_outputs) const;
  // `batch`: of the whole batch's advantages, of which those of `returns` may be a part.
  void scale_advantages(const ImportanceSums& batch, SequenceReturns& returns) const;

  ImpalaConfig config_;
  ReplicaGroup* replicas_;
  // Kept between updates for their memory.
  MaskedCategorical policy_;
  std::vector<std::uint8_t> masks_;  // scratch
  std::vector<float> logit_gradients_;
  std::vector<float> value_gradients_;
  std::vector<float> no_gradient_;
};

}  // namespace pacml::learner
