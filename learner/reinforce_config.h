#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "learner/impala_config.h"
#include "learner/optimizer.h"
#include "learner/schedule.h"

namespace pacml::learner {

// REINFORCE (Williams 1992) on whole episodes, with a baseline for each graph and each step of an
// episode, as Placeto has it (Addanki et al. 2019, arXiv:1906.08879): the mean of the last returns
// from there. For tasks whose episodes end, and are about few graphs again and again.
struct ReinforceConfig {
  std::int64_t batch_decisions = 2'000;  // an update waits for at least so many; >= 1
  std::int64_t max_policy_lag = 20;  // versions; decisions taken with older weights are left out
  // Actors hold an episode back until it ends, but no more decisions than these: of what is sent
  // before, nothing is learned. 1..2048.
  std::int64_t longest_episode = 512;

  double discount = 1;                   // gamma; from 0 to 1
  std::int64_t baseline_window = 10;     // returns that a baseline is the mean of; 1..1000
  std::int64_t most_baselines = 50'000;  // about so many are kept: those used last; >= 1
  AdvantageScaling advantage_scaling = AdvantageScaling::kBatch;  // kNone, as published, or kBatch

  ScheduleConfig entropy_cost{.kind = ScheduleKind::kConstant, .start = 0.01};
  bool normalise_entropy = true;  // each decision's entropy in units of log(its valid actions)
  double entropy_offset = 0;      // -sum of p log(p + this); as published: 0.001. From 0 to 1
  LossReduction loss_reduction = LossReduction::kMean;  // as published: kSum

  ScheduleConfig learning_rate{.kind = ScheduleKind::kConstant, .start = 1e-3};
  OptimizerConfig optimizer;
  bool operator==(const ReinforceConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, ReinforceConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("batch_decisions", c.batch_decisions);
  v("max_policy_lag", c.max_policy_lag);
  v("longest_episode", c.longest_episode);
  v("discount", c.discount);
  v("baseline_window", c.baseline_window);
  v("most_baselines", c.most_baselines);
  v("advantage_scaling", c.advantage_scaling);
  v("entropy_cost", c.entropy_cost);
  v("normalise_entropy", c.normalise_entropy);
  v("entropy_offset", c.entropy_offset);
  v("loss_reduction", c.loss_reduction);
  v("learning_rate", c.learning_rate);
  v("optimizer", c.optimizer);
}

// Every problem of these fields, as a sentence that names the key; nested structs have their own.
[[nodiscard]] std::vector<std::string> validate(const ReinforceConfig& config);

}  // namespace pacml::learner
