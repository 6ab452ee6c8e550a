#include "actor/impala_behaviour.h"

#include "model/action_distribution.h"

namespace pacml::actor {

ImpalaBehaviour::ImpalaBehaviour(const env::EnvironmentSpec& spec, const ActorConfig& config,
                                 Seed seed, std::size_t held_back)
    : writer_(spec, static_cast<std::size_t>(config.environments),
              static_cast<std::size_t>(config.unroll_length), held_back),
      rng_(derive(seed, Purpose::kExploration, 0)),
      actions_(static_cast<std::size_t>(config.environments)),
      log_probs_(actions_.size()) {}

void ImpalaBehaviour::begin(std::span<const std::size_t> environments) {
  writer_.begin(environments);
  actions_.resize(environments.size());
  log_probs_.resize(environments.size());
}

std::span<const int> ImpalaBehaviour::choose(const VectorEnv& environments,
                                             const model::PolicyOutput& output,
                                             PolicyVersion version) {
  version_ = version;
  const Observations& observations = environments.observations();
  writer_.observe(observations, environments.agents());
  const std::size_t width = observations.num_candidates();
  const std::span<const float> logits = output.logits;
  for (std::size_t b = 0; b < actions_.size(); ++b) {
    const auto drawn = model::sample_action(logits.subspan(b * width, width), rng_);
    actions_[b] = drawn.action;
    log_probs_[b] = drawn.log_probability;
  }
  return actions_;
}

void ImpalaBehaviour::record(const VectorEnv::Outcome& outcome) {
  writer_.step(actions_, log_probs_, version_, outcome);
}

ActorMessage ImpalaBehaviour::take(const VectorEnv& environments) {
  return writer_.take(environments.observations(), environments.agents());
}

}  // namespace pacml::actor
