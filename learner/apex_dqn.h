#pragma once

#include <span>
#include <vector>

#include "learner/algorithm.h"
#include "learner/apex_config.h"
#include "learner/network_training.h"
#include "model/policy.h"
#include "model/trainable_network.h"

namespace pacml::learner {

// Ape-X DQN (Horgan et al. 2018, arXiv:1803.00933): double Q-learning of n-step transitions out of
// a prioritized replay, with a duelling network of any kind. One update is one step on
//
//   L = 1/N sum_n w_n h(Q(s_n, a_n) - y_n),   y_n = R_n + gamma^k Qtarget(s'_n, argmax_a Q(s'_n,
//   a))
//
// with Huber's h, importance weights w, and errors in the unit of the network's outputs. The new
// priority of a transition is |Q - y|, in the unit of rewards. Thread-confined.
class ApexDqn final : public TransitionAlgorithm {
 public:
  // Borrows everything for its life. The weights that `network` holds are where learning starts.
  // `online` and `target` are the same network for passes without gradient, and no one else's: one
  // is given the weights in training before each update, the other one every target_period updates.
  // Pre: validate(config) holds (PACML_CHECK).
  ApexDqn(const ApexConfig& config, model::TrainableNetwork& network, model::Policy& online,
          model::Policy& target);

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override;
  [[nodiscard]] UpdateReport update(const TransitionBatch& batch) override;
  [[nodiscard]] PolicyVersion version() const override { return training_.version(); }
  [[nodiscard]] model::Parameters snapshot() const override { return training_.folded(); }
  [[nodiscard]] AlgorithmState save() const override;
  [[nodiscard]] Result<void> restore(const AlgorithmState& state) override;

 private:
  // y [N], in the unit of rewards.
  void compute_targets(const TransitionBatch& batch);
  void set_target(std::vector<float> weights);

  ApexConfig config_;
  NetworkTraining training_;
  model::Policy* online_;
  model::Policy* target_;
  // Folded to the unit of rewards, so that no movement of the moments concerns them.
  std::vector<float> target_weights_;
  // Kept between updates for their memory.
  model::PolicyOutput online_output_;
  model::PolicyOutput target_output_;
  std::vector<float> q_values_;     // [N, A]
  std::vector<float> targets_;      // [N]
  std::vector<float> weights_;      // [N]
  std::vector<float> predictions_;  // [N], of the actions taken, as the network says them
  std::vector<float> output_targets_;
  std::vector<float> q_gradients_;
  std::vector<float> logit_gradients_;
  std::vector<float> value_gradients_;
};

}  // namespace pacml::learner
