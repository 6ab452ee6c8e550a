#include "actor/vector_env.h"

#include <algorithm>
#include <cmath>

#include "common/check.h"
#include "common/heartbeat.h"
#include "common/rng.h"
#include "env/feature_check.h"

namespace pacml::actor {

VectorEnv::VectorEnv(const env::EnvironmentFactory& make, std::size_t size, Seed stream)
    : stream_(stream), episodes_(size, 0), acted_(size), selected_(size), agents_(size) {
  PACML_CHECK(size > 0, "an actor steps at least one environment");
  for (std::size_t b = 0; b < size; ++b) environments_.push_back(make());
  observations_ = spec().make_observations();
  outcome_.last_observations = observations_;
  outcome_.results.resize(size);
  observations_.reserve(size);
  for (std::size_t b = 0; b < size; ++b) {
    beat();
    selected_[b] = b;
    start_episode(b);
    look(b);
  }
  env::require_finite_features(spec(), observations_);
}

void VectorEnv::select(std::size_t count) {
  PACML_CHECK(count >= 1 && count <= total(), "there are so many environments");
  if (count == total() && size() == total()) return;
  const std::size_t first = (selected_.back() + 1) % total();
  selected_.resize(count);
  agents_.resize(count);
  outcome_.results.resize(count);
  observations_.clear();
  for (std::size_t b = 0; b < count; ++b) {
    selected_[b] = (first + b) % total();
    look(b);
  }
  env::require_finite_features(spec(), observations_);
}

void VectorEnv::start_episode(std::size_t environment) {
  const Seed own = derive(stream_, Purpose::kEpisode, environment);
  environments_[environment]->reset(derive(own, Purpose::kEpisode, episodes_[environment]++));
}

void VectorEnv::look(std::size_t row) {
  const env::Environment& environment = *environments_[selected_[row]];
  environment.observe(observations_);
  agents_[row] = environment.agent();
  PACML_CHECK(is_agent(agents_[row]) && observations_.agent(row) == agents_[row],
              "one of the task's agents decides, and the observation is its own");
}

void VectorEnv::finish(std::size_t row) {
  const env::Environment& environment = *environments_[selected_[row]];
  outcome_.finished.push_back({row, environment.summary()});
  auto& acted = acted_[selected_[row]];
  if (!outcome_.results[row].terminated) {
    for (const int agent : acted) {
      if (environment.has_left(agent)) continue;
      outcome_.last_states.push_back({row, agent});
      environment.observe_last(agent, outcome_.last_observations);
    }
  }
  acted.clear();
  start_episode(selected_[row]);
}

const VectorEnv::Outcome& VectorEnv::step(std::span<const int> actions) {
  PACML_CHECK(actions.size() == size(), "one action for each environment");
  outcome_.other_rewards.clear();
  outcome_.finished.clear();
  outcome_.last_states.clear();
  outcome_.last_observations.clear();
  observations_.clear();
  for (std::size_t b = 0; b < size(); ++b) {
    beat();  // each may be slow, and all of them are not one
    env::Environment& environment = *environments_[selected_[b]];
    auto& acted = acted_[selected_[b]];
    if (std::ranges::find(acted, agents_[b]) == acted.end()) acted.push_back(agents_[b]);
    const env::StepResult& result = outcome_.results[b] = environment.step(actions[b]);
    PACML_CHECK(std::isfinite(result.elapsed) && result.elapsed > 0, "a step takes its time");
    static_cast<void>(env::finite_reward(spec().task, double{result.reward}));
    for (const env::AgentReward& reward : environment.other_rewards()) {
      PACML_CHECK(is_agent(reward.agent), "a reward is one of the task's agents'");
      static_cast<void>(env::finite_reward(spec().task, double{reward.reward}));
      outcome_.other_rewards.push_back({b, reward});
    }
    if (result.final()) finish(b);
    look(b);
  }
  env::require_finite_features(spec(), observations_);
  env::require_finite_features(spec(), outcome_.last_observations);
  return outcome_;
}

}  // namespace pacml::actor
