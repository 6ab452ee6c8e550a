#include "actor/vector_env.h"

#include "common/check.h"
#include "common/rng.h"

namespace pacml::actor {

VectorEnv::VectorEnv(const env::EnvironmentFactory& make, std::size_t size, Seed stream)
    : stream_(stream), episodes_(size, 0), selected_(size), results_(size) {
  PACML_CHECK(size > 0, "an actor steps at least one environment");
  for (std::size_t b = 0; b < size; ++b) environments_.push_back(make());
  observations_ = spec().make_observations();
  last_observations_ = observations_;
  observations_.reserve(size);
  for (std::size_t b = 0; b < size; ++b) {
    selected_[b] = b;
    start_episode(b);
    environments_[b]->observe(observations_);
  }
}

void VectorEnv::select(std::size_t count) {
  PACML_CHECK(count >= 1 && count <= total(), "there are so many environments");
  if (count == total() && size() == total()) return;
  const std::size_t first = (selected_.back() + 1) % total();
  selected_.resize(count);
  results_.resize(count);
  observations_.clear();
  for (std::size_t b = 0; b < count; ++b) {
    selected_[b] = (first + b) % total();
    environments_[selected_[b]]->observe(observations_);
  }
}

void VectorEnv::start_episode(std::size_t environment) {
  const Seed own = derive(stream_, Purpose::kEpisode, environment);
  environments_[environment]->reset(derive(own, Purpose::kEpisode, episodes_[environment]++));
}

std::span<const env::StepResult> VectorEnv::step(std::span<const int> actions) {
  PACML_CHECK(actions.size() == size(), "one action for each environment");
  finished_.clear();
  last_observations_.clear();
  observations_.clear();
  for (std::size_t b = 0; b < size(); ++b) {
    env::Environment& environment = *environments_[selected_[b]];
    results_[b] = environment.step(actions[b]);
    if (results_[b].final()) {
      finished_.push_back({b, environment.summary()});
      environment.observe(last_observations_);
      start_episode(selected_[b]);
    }
    environment.observe(observations_);
  }
  return results_;
}

}  // namespace pacml::actor
