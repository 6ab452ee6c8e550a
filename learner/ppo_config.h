#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "learner/optimizer.h"
#include "learner/returns/vtrace.h"
#include "learner/schedule.h"

namespace pacml::learner {

// Proximal policy optimisation (Schulman et al. 2017, arXiv:1707.06347): several passes over each
// batch in shuffled minibatches, none of which moves the policy far from the one that acted.
struct PpoConfig {
  std::int64_t batch_decisions = 4'096;    // an update waits for at least so many; >= 1
  std::int64_t minibatch_decisions = 512;  // of each optimiser step; >= 1
  std::int64_t epochs = 3;                 // passes over a batch; 1..100
  std::int64_t max_policy_lag = 4;  // versions; decisions taken with older weights are left out

  double discount = 0.99;  // gamma; from 0 to 1
  double lambda = 0.9;     // of the advantages' exponential average; from 0 to 1
  LambdaUnit lambda_per = LambdaUnit::kDecision;
  // Rewards count less what a unit of time pays on average (learner/reward_rate.h), and values are
  // differences between states: for tasks that go on and on, with a discount near 1.
  bool centre_rewards = false;
  double reward_scale = 1;    // rewards are multiplied by it; > 0
  double clip = 0.2;          // how far a probability may move, as a share of it; > 0
  double popart_rate = 1e-2;  // weight of one batch in the values' running moments; above 0, to 1

  double value_cost = 0.5;  // weight of the value loss; >= 0
  ScheduleConfig entropy_cost{.kind = ScheduleKind::kConstant, .start = 0.01};
  bool normalise_entropy = true;  // each decision's entropy in units of log(its valid actions)

  ScheduleConfig learning_rate{.kind = ScheduleKind::kConstant, .start = 1e-3};
  OptimizerConfig optimizer;
  bool operator==(const PpoConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, PpoConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("batch_decisions", c.batch_decisions);
  v("minibatch_decisions", c.minibatch_decisions);
  v("epochs", c.epochs);
  v("max_policy_lag", c.max_policy_lag);
  v("discount", c.discount);
  v("lambda", c.lambda);
  v("lambda_per", c.lambda_per);
  v("centre_rewards", c.centre_rewards);
  v("reward_scale", c.reward_scale);
  v("clip", c.clip);
  v("popart_rate", c.popart_rate);
  v("value_cost", c.value_cost);
  v("entropy_cost", c.entropy_cost);
  v("normalise_entropy", c.normalise_entropy);
  v("learning_rate", c.learning_rate);
  v("optimizer", c.optimizer);
}

// Every problem of these fields, as a sentence that names the key; nested structs have their own.
[[nodiscard]] std::vector<std::string> validate(const PpoConfig& config);

}  // namespace pacml::learner
