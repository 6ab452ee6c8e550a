#include "actor/actor_loop.h"

#include <span>

#include "model/action_distribution.h"

namespace pacml::actor {

ActorLoop::ActorLoop(const ActorConfig& config, const EnvironmentFactory& make_environment,
                     model::Policy& policy, Seed seed)
    : environments_(make_environment, static_cast<std::size_t>(config.environments),
                    derive(seed, Purpose::kEpisode, 0)),
      policy_(&policy),
      writer_(environments_.spec(), environments_.size(),
              static_cast<std::size_t>(config.unroll_length)),
      rng_(derive(seed, Purpose::kExploration, 0)),
      actions_(environments_.size()),
      log_probs_(environments_.size()) {
  policy_->set_graphs(environments_.spec().graphs);
}

void ActorLoop::set_parameters(const model::Parameters& parameters) {
  policy_->set_parameters(parameters);
  version_ = parameters.version;
}

void ActorLoop::choose_actions() {
  policy_->evaluate(environments_.observations(), output_);
  const auto width = static_cast<std::size_t>(environments_.spec().num_actions);
  const std::span<const float> logits = output_.logits;
  for (std::size_t b = 0; b < environments_.size(); ++b) {
    const auto drawn = model::sample_action(logits.subspan(b * width, width), rng_);
    actions_[b] = drawn.action;
    log_probs_[b] = drawn.log_probability;
  }
}

Unrolls ActorLoop::run_unroll() {
  while (!writer_.full()) {
    writer_.observe(environments_.observations());
    choose_actions();
    const auto results = environments_.step(actions_);
    writer_.step(actions_, log_probs_, version_, results, environments_.finished(),
                 environments_.last_observations());
    decisions_ += static_cast<std::int64_t>(environments_.size());
  }
  return writer_.take(environments_.observations());
}

Error ActorLoop::run(ExperienceSink& sink, std::stop_token stop) {
  auto first = sink.first_parameters(stop);
  if (!first) return first.error();
  set_parameters(*first);
  while (!stop.stop_requested()) {
    if (const auto newer = sink.newest_parameters()) set_parameters(*newer);
    if (auto sent = sink.send(run_unroll(), stop); !sent) return sent.error();
  }
  return {Errc::kStopped, "asked to stop"};
}

}  // namespace pacml::actor
