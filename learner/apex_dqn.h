#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learner/algorithm.h"
#include "learner/apex_config.h"
#include "learner/network_algorithm.h"
#include "learner/replicas/replica_group.h"
#include "model/policy.h"
#include "model/trainable_network.h"

namespace pacml::learner {

// Ape-X DQN (Horgan et al. 2018, arXiv:1803.00933): double Q-learning of n-step transitions out of
// a prioritized replay, with a network of any kind, whose heads say action values. One update is
// one step on
//
//   L = 1/N sum_n w_n h(Q(s_n, a_n) - y_n),   y_n = R_n + gamma^k Qtarget(s'_n, argmax_a Q(s'_n,
//   a))
//
// with Huber's h, importance weights w, and errors in the unit of the network's outputs. With
// centre_rewards, R_n is less the average reward of a unit of time, times the time that its
// decisions took, discounted as their rewards are: what they would pay if they paid the average.
// The new priority of a transition is |Q - y|, in the unit of rewards. With replicas, N and the
// greatest weight are those of all shares together. Thread-confined.
class ApexDqn final : public NetworkAlgorithm<TransitionAlgorithm> {
 public:
  // Borrows everything for its life. The weights that `network` holds are where learning starts.
  // `online` and `target` are the same network for passes without gradient, and no one else's: one
  // is given the weights in training before each update, the other one every target_period updates.
  // Pre: validate(config) holds (PACML_CHECK).
  ApexDqn(const ApexConfig& config, model::TrainableNetwork& network, model::Policy& online,
          model::Policy& target, ReplicaGroup& replicas = alone());

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override;
  [[nodiscard]] Result<UpdateReport> update(const TransitionBatch& batch) override;

 private:
  struct Figures;
  // The gradient of the loss over a share of a batch of `whole_size`, whose priorities go into the
  // report. Pre: the share is not empty.
  std::span<float> differentiate(const TransitionBatch& batch, std::int64_t whole_size,
                                 double least_probability, Figures& figures, UpdateReport& report);
  // y [N], in the unit of rewards. False: the network says nothing that can be learned from.
  [[nodiscard]] bool compute_targets(const TransitionBatch& batch);
  // No gradient, and a loss that is no number: this share's batch is not learned from, by nobody.
  std::span<float> refuse(Figures& figures);
  void set_target(std::vector<float> weights);
  void save_more(AlgorithmState& state) const override;
  [[nodiscard]] Result<void> more_fits(const AlgorithmState& state) const override;
  void restore_more(const AlgorithmState& state) override;

  ApexConfig config_;
  model::Policy* online_;
  model::Policy* target_;
  ReplicaGroup* replicas_;
  // Folded to the unit of rewards, so that no movement of the moments concerns them.
  std::vector<float> target_weights_;
  // Kept between updates for their memory.
  model::PolicyOutput online_output_;
  model::PolicyOutput target_output_;
  std::vector<float> q_values_;      // [N, A]
  std::vector<std::uint8_t> masks_;  // [N, A], scratch
  std::vector<float> targets_;       // [N]
  std::vector<float> weights_;       // [N]
  std::vector<float> predictions_;   // [N], of the actions taken, as the network says them
  std::vector<float> output_targets_;
  std::vector<float> q_gradients_;
  std::vector<float> logit_gradients_;
  std::vector<float> value_gradients_;
  std::vector<float> no_gradient_;
};

}  // namespace pacml::learner
