#include "planning/search_agent.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "common/check.h"
#include "common/experience/observations.h"
#include "common/result.h"

namespace pacml::planning {

SearchAgent::SearchAgent(const SearchConfig& config, std::unique_ptr<RolloutPolicy> policy,
                         const Clock& clock)
    : config_(config), policy_(std::move(policy)), clock_(&clock) {
  PACML_CHECK(validate(config).empty(), "a valid configuration");
}

void SearchAgent::reset(Seed seed) {
  rng_ = Rng(derive(seed, Purpose::kHeuristic, 1));
  policy_->reset(seed);
}

int SearchAgent::act(const env::Environment& environment) {
  tried_.clear();
  futures_ = 0;
  const Seed decision{rng_.next()};
  const std::vector<int> actions = likely_actions(environment);
  if (actions.size() == 1) return actions.front();
  for (const int action : actions) tried_.push_back({action, 0});
  const TimePoint begun = clock_->now();
  while (futures_ < config_.futures) {
    play(environment, derive(decision, Purpose::kEpisode, static_cast<std::uint64_t>(futures_)));
    ++futures_;
    if (config_.seconds > 0 &&
        std::chrono::duration<double>(clock_->now() - begun).count() >= config_.seconds) {
      break;
    }
  }
  for (Tried& tried : tried_) tried.value /= futures_;
  return std::ranges::max_element(tried_, {}, &Tried::value)->action;
}

std::vector<int> SearchAgent::likely_actions(const env::Environment& environment) {
  Observations row = environment.spec().make_observations();
  environment.observe(row);
  const auto mask = row.mask(0);
  const std::vector<float> likely = policy_->log_probabilities(environment);
  float best = -std::numeric_limits<float>::infinity();
  for (std::size_t a = 0; a < mask.size() && !likely.empty(); ++a) {
    if (mask[a] != 0) best = std::max(best, likely[a]);
  }
  std::vector<int> actions;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] == 0) continue;
    if (!likely.empty() && static_cast<double>(likely[a]) < best - config_.gap) continue;
    actions.push_back(static_cast<int>(a));
  }
  return actions;
}

void SearchAgent::play(const env::Environment& environment, Seed future) {
  const auto root = environment.clone();
  if (!root->resample_future(future)) {
    throw UserError("a search needs futures that can be drawn, and this episode's are given");
  }
  worlds_.clear();
  actions_.clear();
  for (const Tried& tried : tried_) {
    worlds_.push_back({root->clone(), &tried - tried_.data(), 1});
    actions_.push_back(tried.action);
  }
  for (int step = 0; step < config_.horizon && !worlds_.empty(); ++step) {
    if (step > 0) {
      actions_.resize(worlds_.size());
      policy_->act(pointers(), actions_);
    }
    advance();
  }
  add_values();
}

void SearchAgent::advance() {
  std::size_t kept = 0;
  for (std::size_t w = 0; w < worlds_.size(); ++w) {
    World& world = worlds_[w];
    Tried& tried = tried_[static_cast<std::size_t>(world.tried)];
    const env::StepResult result = world.environment->step(actions_[w]);
    tried.value += world.weight * static_cast<double>(result.reward);
    world.weight *=
        result.elapsed == 1 ? config_.discount : std::pow(config_.discount, double{result.elapsed});
    if (result.terminated) continue;
    if (result.truncated) {
      // Something would have followed.
      const env::Environment* const cut[] = {world.environment.get()};
      double value = 0;
      policy_->evaluate(cut, {&value, 1});
      tried.value += world.weight * value;
      continue;
    }
    if (kept != w) worlds_[kept] = std::move(world);
    ++kept;
  }
  worlds_.resize(kept);
}

void SearchAgent::add_values() {
  if (worlds_.empty()) return;
  values_.resize(worlds_.size());
  policy_->evaluate(pointers(), values_);
  for (std::size_t w = 0; w < worlds_.size(); ++w) {
    tried_[static_cast<std::size_t>(worlds_[w].tried)].value += worlds_[w].weight * values_[w];
  }
}

std::span<const env::Environment* const> SearchAgent::pointers() {
  pointers_.clear();
  for (const World& world : worlds_) pointers_.push_back(world.environment.get());
  return pointers_;
}

}  // namespace pacml::planning
