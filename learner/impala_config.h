#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "learner/optimizer.h"
#include "learner/returns/vtrace.h"
#include "learner/schedule.h"
#include "learner/value_normaliser.h"

namespace pacml::learner {

// Whether a batch's losses are added up or averaged. A sum makes the learning rate depend on the
// batch; the published agents of IMPALA use it, with gradient_clip 40 and a small rate.
enum class LossReduction { kMean, kSum };

constexpr auto enum_names(LossReduction) {
  return std::to_array<EnumName<LossReduction>>(
      {{"mean", LossReduction::kMean}, {"sum", LossReduction::kSum}});
}

// What advantages are divided by before the policy gradient.
//   none    nothing, as published
//   values  the running deviation of the value targets (value_normalisation: popart)
//   batch   the batch's own deviation, after its mean is taken off
enum class AdvantageScaling { kNone, kValues, kBatch };

constexpr auto enum_names(AdvantageScaling) {
  return std::to_array<EnumName<AdvantageScaling>>({{"none", AdvantageScaling::kNone},
                                                    {"values", AdvantageScaling::kValues},
                                                    {"batch", AdvantageScaling::kBatch}});
}

// IMPALA (Espeholt et al. 2018, arXiv:1802.01561).
struct ImpalaConfig {
  std::int64_t batch_decisions = 2'000;  // an update waits for at least so many; >= 1
  std::int64_t max_policy_lag = 20;  // versions; decisions taken with older weights are left out

  double discount = 0.997;  // gamma; from 0 to 1
  // Rewards count less what a unit of time pays on average (learner/reward_rate.h), and values are
  // differences between states: for tasks that go on and on, with a discount near 1.
  bool centre_rewards = false;
  double reward_scale = 1;  // rewards are multiplied by it; > 0
  VtraceConfig vtrace;
  AdvantageScaling advantage_scaling = AdvantageScaling::kBatch;
  ValueNormalisation value_normalisation = ValueNormalisation::kPopArt;
  double popart_rate = 1e-2;  // weight of one batch in the running moments; above 0, to 1

  double value_cost = 0.5;  // weight of the value loss; >= 0
  ScheduleConfig entropy_cost{.kind = ScheduleKind::kConstant, .start = 0.01};
  bool normalise_entropy = true;  // each decision's entropy in units of log(its valid actions)
  LossReduction loss_reduction = LossReduction::kMean;

  ScheduleConfig learning_rate{.kind = ScheduleKind::kConstant, .start = 1e-3};
  OptimizerConfig optimizer;
  bool operator==(const ImpalaConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, ImpalaConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("batch_decisions", c.batch_decisions);
  v("max_policy_lag", c.max_policy_lag);
  v("discount", c.discount);
  v("centre_rewards", c.centre_rewards);
  v("reward_scale", c.reward_scale);
  v("vtrace", c.vtrace);
  v("advantage_scaling", c.advantage_scaling);
  v("value_normalisation", c.value_normalisation);
  v("popart_rate", c.popart_rate);
  v("value_cost", c.value_cost);
  v("entropy_cost", c.entropy_cost);
  v("normalise_entropy", c.normalise_entropy);
  v("loss_reduction", c.loss_reduction);
  v("learning_rate", c.learning_rate);
  v("optimizer", c.optimizer);
}

// Every problem of these fields, as a sentence that names the key; nested structs have their own.
[[nodiscard]] std::vector<std::string> validate(const ImpalaConfig& config);

}  // namespace pacml::learner
