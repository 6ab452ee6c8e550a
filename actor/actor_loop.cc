#include "actor/actor_loop.h"

#include <utility>

#include "common/rng.h"

namespace pacml::actor {

ActorLoop::ActorLoop(const ActorConfig& config, const EnvironmentFactory& make_environment,
                     model::Policy& policy, std::unique_ptr<Behaviour> behaviour, Seed seed)
    : environments_(make_environment, static_cast<std::size_t>(config.environments),
                    derive(seed, Purpose::kEpisode, 0)),
      policy_(&policy),
      behaviour_(std::move(behaviour)) {
  policy_->set_graphs(environments_.spec().graphs);
}

void ActorLoop::set_parameters(const model::Parameters& parameters) {
  policy_->set_parameters(parameters);
  version_ = parameters.version;
}

ActorMessage ActorLoop::run_message() {
  while (!behaviour_->full()) {
    policy_->evaluate(environments_.observations(), output_);
    const auto actions = behaviour_->choose(environments_.observations(), output_);
    const auto results = environments_.step(actions);
    behaviour_->record(version_, results, environments_.finished(),
                       environments_.last_observations());
    decisions_ += static_cast<std::int64_t>(environments_.size());
  }
  return behaviour_->take(environments_.observations());
}

Error ActorLoop::run(ExperienceSink& sink, std::stop_token stop) {
  auto first = sink.first_parameters(stop);
  if (!first) return first.error();
  set_parameters(*first);
  while (!stop.stop_requested()) {
    if (const auto newer = sink.newest_parameters()) set_parameters(*newer);
    if (auto sent = sink.send(run_message(), stop); !sent) return sent.error();
  }
  return {Errc::kStopped, "asked to stop"};
}

}  // namespace pacml::actor
