#include "planning/rollouts.h"

#include <cmath>
#include <utility>

#include "common/check.h"
#include "common/result.h"

namespace pacml::planning {

Rollouts::Rollouts(double discount, RolloutPolicy& policy) : discount_(discount), policy_(&policy) {
  PACML_CHECK(discount > 0 && discount <= 1, "a discount");
}

void Rollouts::add(const env::Environment& environment, std::span<const int> actions, Seed future,
                   std::span<double> sums) {
  PACML_CHECK(!actions.empty() && sums.size() == actions.size(), "one sum for each action");
  auto root = environment.clone();
  if (!root->resample_future(future)) {
    throw UserError("a search needs futures that can be drawn, and this episode's are given");
  }
  for (std::size_t a = 0; a < actions.size(); ++a) {
    const bool last = a + 1 == actions.size();
    worlds_.push_back({last ? std::move(root) : root->clone(), &sums[a], 1});
    actions_.push_back(actions[a]);
  }
}

void Rollouts::play(int horizon, double rate) {
  PACML_CHECK(horizon >= 1, "a first decision");
  pace_ = {};
  for (int step = 0; step < horizon && !worlds_.empty(); ++step) {
    if (step > 0) {
      actions_.resize(worlds_.size());
      policy_->act(pointers(), actions_);
    }
    Pace first;
    advance(rate, step > 0 ? pace_ : first);
  }
  add_values();
  worlds_.clear();
  actions_.clear();
}

void Rollouts::advance(double rate, Pace& pace) {
  std::size_t kept = 0;
  for (std::size_t w = 0; w < worlds_.size(); ++w) {
    World& world = worlds_[w];
    const env::StepResult result = world.environment->step(actions_[w]);
    const double reward = result.reward;
    pace.reward += reward;
    pace.elapsed += result.elapsed;
    *world.sum += world.weight * (reward - rate * result.elapsed);
    world.weight *= result.elapsed == 1 ? discount_ : std::pow(discount_, double{result.elapsed});
    if (result.terminated) continue;
    if (result.truncated) {
      // Something would have followed.
      const env::Environment* const cut[] = {world.environment.get()};
      double value = 0;
      policy_->evaluate(cut, {&value, 1});
      *world.sum += world.weight * value;
      continue;
    }
    if (kept != w) worlds_[kept] = std::move(world);
    ++kept;
  }
  worlds_.resize(kept);
}

void Rollouts::add_values() {
  if (worlds_.empty()) return;
  values_.resize(worlds_.size());
  policy_->evaluate(pointers(), values_);
  for (std::size_t w = 0; w < worlds_.size(); ++w) {
    *worlds_[w].sum += worlds_[w].weight * values_[w];
  }
}

std::span<const env::Environment* const> Rollouts::pointers() {
  pointers_.clear();
  for (const World& world : worlds_) pointers_.push_back(world.environment.get());
  return pointers_;
}

}  // namespace pacml::planning
