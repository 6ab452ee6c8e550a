#include "actor/apex_behaviour.h"

#include <algorithm>
#include <utility>

#include "model/duelling.h"

namespace pacml::actor {

ApexBehaviour::ApexBehaviour(const env::EnvironmentSpec& spec, const ActorConfig& config,
                             const NstepConfig& nstep, EpsilonGreedy exploration,
                             model::Policy& policy, model::ValueHeads heads)
    : writer_(spec, static_cast<std::size_t>(config.environments),
              static_cast<std::size_t>(config.unroll_length), nstep),
      exploration_(std::move(exploration)),
      policy_(&policy),
      heads_(heads),
      actions_(static_cast<std::size_t>(config.environments)),
      action_values_(actions_.size()),
      best_values_(actions_.size()) {}

void ApexBehaviour::begin(std::span<const std::size_t> environments) {
  writer_.begin(environments);
  environments_.assign(environments.begin(), environments.end());
  actions_.resize(environments.size());
  action_values_.resize(environments.size());
  best_values_.resize(environments.size());
}

void ApexBehaviour::evaluate_values(const Observations& observations,
                                    const model::PolicyOutput& output, std::span<float> best) {
  const std::size_t width = observations.num_candidates();
  q_.resize(output.logits.size());
  model::action_values(heads_, output.logits, output.values, observations.padded_masks(masks_),
                       width, q_);
  for (std::size_t b = 0; b < observations.size(); ++b) {
    const auto row = std::span<const float>(q_).subspan(b * width, width);
    best[b] = row[static_cast<std::size_t>(model::best_valid_action(row))];
  }
}

std::span<const int> ApexBehaviour::choose(const VectorEnv& environments,
                                           const model::PolicyOutput& output,
                                           PolicyVersion version) {
  version_ = version;
  const Observations& observations = environments.observations();
  const auto agents = environments.agents();
  evaluate_values(observations, output, best_values_);
  writer_.observe(observations, agents, best_values_);
  const std::size_t width = observations.num_candidates();
  const std::span<const float> logits = output.logits;
  for (std::size_t b = 0; b < actions_.size(); ++b) {
    // By the logits, as in evaluation: adding the state's value may round differences away.
    actions_[b] =
        exploration_.choose(environments_[b], agents[b], logits.subspan(b * width, width));
    action_values_[b] = q_[b * width + static_cast<std::size_t>(actions_[b])];
  }
  return actions_;
}

void ApexBehaviour::record(const VectorEnv::Outcome& outcome) {
  last_best_values_.assign(outcome.last_states.size(), 0);
  if (!outcome.last_states.empty()) {
    policy_->evaluate(outcome.last_observations, last_output_);
    // Else the loop will notice at its next step.
    if (model::is_sound(last_output_)) {
      evaluate_values(outcome.last_observations, last_output_, last_best_values_);
    }
  }
  writer_.step(actions_, action_values_, version_, outcome, last_best_values_);
}

ActorMessage ApexBehaviour::take(const VectorEnv& /*environments*/) { return writer_.take(); }

}  // namespace pacml::actor
