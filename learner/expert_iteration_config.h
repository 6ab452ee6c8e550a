#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "learner/optimizer.h"
#include "learner/schedule.h"

namespace pacml::learner {

// Expert iteration (Anthony et al. 2017, arXiv:1705.08439), in the form of approximate policy
// iteration by rollouts: what actors found by searching with the network becomes the network's own.
// How they search is theirs to say (actor/expert_config.h).
struct ExpertIterationConfig {
  std::int64_t batch_decisions = 1'024;     // new ones that an update waits for; >= 1
  std::int64_t max_policy_lag = 8;          // versions; searches with older weights are left out
  std::int64_t memory_decisions = 200'000;  // the newest, out of which updates draw; >= 1
  // ... but no more than this share of all that came since the memory began, so that what the first
  // networks found goes soon; above 0, to 1
  double memory_share = 0.5;
  std::int64_t samples_per_decision = 24;  // how often each is drawn, about; 1..1000
  std::int64_t minibatch_decisions = 512;  // of each optimiser step; >= 1
  double level_cost = 0.1;    // weight of how good a state is, beside which action is better; >= 0
  double popart_rate = 1e-2;  // weight of one batch in the values' running moments; above 0, to 1

  ScheduleConfig learning_rate{.kind = ScheduleKind::kConstant, .start = 1e-3};
  OptimizerConfig optimizer;
  bool operator==(const ExpertIterationConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, ExpertIterationConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("batch_decisions", c.batch_decisions);
  v("max_policy_lag", c.max_policy_lag);
  v("memory_decisions", c.memory_decisions);
  v("memory_share", c.memory_share);
  v("samples_per_decision", c.samples_per_decision);
  v("minibatch_decisions", c.minibatch_decisions);
  v("level_cost", c.level_cost);
  v("popart_rate", c.popart_rate);
  v("learning_rate", c.learning_rate);
  v("optimizer", c.optimizer);
}

// Every problem of these fields, as a sentence that names the key; nested structs have their own.
[[nodiscard]] std::vector<std::string> validate(const ExpertIterationConfig& config);

}  // namespace pacml::learner
