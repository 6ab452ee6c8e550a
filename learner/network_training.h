#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/ids.h"
#include "common/result.h"
#include "learner/algorithm.h"
#include "learner/algorithm_state.h"
#include "learner/optimizer.h"
#include "learner/reward_rate.h"
#include "learner/schedule.h"
#include "learner/value_normaliser.h"
#include "model/parameters.h"
#include "model/trainable_network.h"
#include "model/value_heads.h"

namespace pacml::learner {

// The weights that a state of such an algorithm holds, with the heads rewritten to the unit of the
// rewards that it learned from; nullopt: they are not of this layout, or the moments of values are
// missing.
[[nodiscard]] std::optional<std::vector<float>> folded_weights(const AlgorithmState& state,
                                                               const model::ParameterLayout& layout,
                                                               model::ValueHeads heads);

// Whether the heads of such a state say values in units of moments, rather than in that of rewards.
[[nodiscard]] bool has_moments(const AlgorithmState& state);

// Multiplies what the heads say of values. `weights` [layout.total].
void scale_values(double factor, const model::ParameterLayout& layout, model::ValueHeads heads,
                  std::span<float> weights);

// A network in training: weights, optimiser, the unit of its values, the average reward that they
// are relative to, and how far it is. What algorithms have in common. An update is made as a whole
// or not at all:
//
//     training.begin_update();
//     // take_in_rewards(), start_values(), step() once or several times, take_in_values()
//     report.outcome = training.end_update(sound, decisions);
//
// and by those who may leave in between, abandon_update().
// Thread-confined.
class NetworkTraining {
 public:
  // Borrows `network` for its life; the weights that it holds are where learning starts, but by
  // kActions those of its value, which become 0.
  // `popart_rate`: ValueNormaliser's. `centres_rewards`: whether there is an average reward.
  NetworkTraining(model::TrainableNetwork& network, const OptimizerConfig& optimizer,
                  double popart_rate, model::ValueHeads heads, bool centres_rewards = false);

  [[nodiscard]] model::TrainableNetwork& network() { return *network_; }
  [[nodiscard]] const model::TrainableNetwork& network() const { return *network_; }
  // Between outputs of the value heads and values.
  [[nodiscard]] const ValueNormaliser& normaliser() const { return normaliser_; }
  // What is taken off rewards for each unit of time; 0 unless they are centred.
  [[nodiscard]] const RewardRate& reward_rate() const { return reward_rate_; }
  [[nodiscard]] std::int64_t updates() const { return updates_; }
  [[nodiscard]] std::int64_t decisions() const { return decisions_; }  // learned from, all updates
  // For schedules.
  [[nodiscard]] LearningProgress progress() const { return {decisions_, run_position()}; }
  // Algorithm's.
  void set_share_done(double share) { share_done_ = share; }

  // Keeps what an update may change. Pre: none has begun (PACML_CHECK).
  void begin_update();
  // Where an update has begun and not come to its end, as those who make it together were not all
  // there any more: everything is as it was at begin_update(). Else nothing.
  void abandon_update();
  // Nothing unless rewards are centred.
  void take_in_rewards(const RewardSums& rewards);
  // Moves the moments by a batch of targets before its update; the heads stay (ValueNormaliser).
  void start_values(const TargetSums& targets) { normaliser_.start(targets); }
  // Moves the moments by a batch of targets, and rewrites the heads so that values stay.
  void take_in_values(const TargetSums& targets);
  // One step against `gradient`. Not applied: it is not finite, or the weights or the optimiser
  // are not any more; the update is not sound.
  Optimizer::Step step(std::span<const float> gradient, double learning_rate);
  // kApplied: an update of so many decisions is done, the weights get a new version. kDiverged: it
  // was not `sound`, or the weights are not finite in the unit of rewards; everything is as it was
  // at begin_update().
  [[nodiscard]] Outcome end_update(bool sound, std::int64_t decisions);

  [[nodiscard]] PolicyVersion version() const {
    return PolicyVersion{static_cast<std::uint64_t>(updates_)};
  }
  // The weights as they are in training, and with the heads rewritten to the unit of rewards.
  [[nodiscard]] model::Parameters raw() const;
  [[nodiscard]] model::Parameters folded() const;

  // `algorithm` names the state. Algorithms may add to what is saved.
  [[nodiscard]] AlgorithmState save(std::string_view algorithm) const;
  // Whether restore() can go on from `state`. kVersionMismatch: a sentence says what differs.
  [[nodiscard]] Result<void> fits(std::string_view algorithm, const AlgorithmState& state) const;
  // Pre: fits (PACML_CHECK).
  void restore(std::string_view algorithm, const AlgorithmState& state);

 private:
  [[nodiscard]] RunPosition run_position() const;
  void undo();

  model::TrainableNetwork* network_;
  Optimizer optimizer_;
  ValueNormaliser normaliser_;
  RewardRate reward_rate_;
  model::ValueHeads heads_;
  bool centres_rewards_;
  std::int64_t updates_ = 0;
  std::int64_t decisions_ = 0;
  // When learning began or went on, and since then.
  RunPosition run_before_;
  std::int64_t decisions_before_ = 0;
  std::optional<double> share_done_;
  // Before an update that has begun, in case it must be undone.
  bool begun_ = false;
  std::vector<float> weights_before_;
  OptimizerState optimizer_before_;
  ValueNormaliser::State values_before_;
  RewardRate reward_rate_before_;
};

}  // namespace pacml::learner
