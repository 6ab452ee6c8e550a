#include "actor/apex_behaviour.h"

#include <algorithm>
#include <utility>

#include "model/duelling.h"

namespace pacml::actor {

ApexBehaviour::ApexBehaviour(const env::EnvironmentSpec& spec, const ActorConfig& config,
                             const NstepConfig& nstep, EpsilonGreedy exploration,
                             model::Policy& policy)
    : writer_(spec, static_cast<std::size_t>(config.environments),
              static_cast<std::size_t>(config.unroll_length), nstep),
      exploration_(std::move(exploration)),
      policy_(&policy),
      actions_(static_cast<std::size_t>(config.environments)),
      action_values_(actions_.size()),
      best_values_(actions_.size()),
      truncated_(spec.make_observations()) {}

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
  model::duelling_q_values(output.logits, output.values, observations.padded_masks(masks_), width,
                           q_);
  for (std::size_t b = 0; b < observations.size(); ++b) {
    const auto row = std::span<const float>(q_).subspan(b * width, width);
    best[b] = row[static_cast<std::size_t>(model::best_valid_action(row))];
  }
}

std::span<const int> ApexBehaviour::choose(const Observations& observations,
                                           const model::PolicyOutput& output) {
  evaluate_values(observations, output, best_values_);
  writer_.observe(observations, best_values_);
  const std::size_t width = observations.num_candidates();
  const std::span<const float> logits = output.logits;
  for (std::size_t b = 0; b < actions_.size(); ++b) {
    // By the logits, as in evaluation: adding the state's value may round differences away.
    actions_[b] = exploration_.choose(environments_[b], logits.subspan(b * width, width));
    action_values_[b] = q_[b * width + static_cast<std::size_t>(actions_[b])];
  }
  return actions_;
}

void ApexBehaviour::evaluate_truncated(std::span<const env::StepResult> results,
                                       std::span<const VectorEnv::Finished> finished,
                                       const Observations& last_observations) {
  last_best_values_.assign(finished.size(), 0);
  const auto needs_value = [&](const VectorEnv::Finished& f) {
    return results[f.row].truncated && !results[f.row].terminated;
  };
  truncated_.clear();
  for (std::size_t f = 0; f < finished.size(); ++f) {
    if (!needs_value(finished[f])) continue;
    truncated_.append_row(last_observations, f);
  }
  if (truncated_.size() == 0) return;
  policy_->evaluate(truncated_, truncated_output_);
  if (!model::is_sound(truncated_output_)) return;  // the loop will notice at its next step
  truncated_best_.resize(truncated_.size());
  evaluate_values(truncated_, truncated_output_, truncated_best_);
  std::size_t row = 0;
  for (std::size_t f = 0; f < finished.size(); ++f) {
    if (needs_value(finished[f])) last_best_values_[f] = truncated_best_[row++];
  }
}

void ApexBehaviour::record(PolicyVersion version, std::span<const env::StepResult> results,
                           std::span<const VectorEnv::Finished> finished,
                           const Observations& last_observations) {
  evaluate_truncated(results, finished, last_observations);
  writer_.step(actions_, action_values_, version, results, finished, last_observations,
               last_best_values_);
}

ActorMessage ApexBehaviour::take(const Observations& /*next_observations*/) {
  return writer_.take();
}

}  // namespace pacml::actor
