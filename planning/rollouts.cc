#include "planning/rollouts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/check.h"
#include "common/heartbeat.h"
#include "common/result.h"
#include "common/scope_exit.h"

namespace pacml::planning {
namespace {

// Behind the horizon, before the value of whoever is to decide has to do.
constexpr int kMostTurnsOfOthers = 64;

}  // namespace

Rollouts::Rollouts(double discount, RolloutPolicy& policy) : discount_(discount), policy_(&policy) {
  PACML_CHECK(discount > 0 && discount <= 1, "a discount");
}

void Rollouts::add(const env::Environment& environment, std::span<const int> actions, Seed future,
                   std::span<double> sums) {
  PACML_CHECK(!actions.empty() && sums.size() == actions.size(), "one sum for each action");
  try {
    auto root = environment.imagine(future);
    if (!root) {
      throw UserError(
          "a search needs other futures than the true one, and this episode's jobs leave none to "
          "draw");
    }
    for (std::size_t a = 0; a < actions.size(); ++a) {
      const bool last = a + 1 == actions.size();
      worlds_.push_back({last ? std::move(root) : root->clone(), &sums[a], environment.agent()});
      actions_.push_back(actions[a]);
    }
  } catch (...) {
    forget();  // whoever goes on has other sums
    throw;
  }
}

void Rollouts::play(int horizon, double rate) {
  PACML_CHECK(horizon >= 1, "a first decision");
  const ScopeExit at_end([this] { forget(); });
  pace_ = {};
  Pace first;
  advance(rate, first);
  for (int step = 1; step < horizon && !worlds_.empty(); ++step) {
    decide();
    advance(rate, pace_);
  }
  settle(false);
  for (int turn = 0; turn < kMostTurnsOfOthers && !worlds_.empty(); ++turn) {
    decide();
    advance(rate, pace_);
    settle(false);
  }
  settle(true);
}

void Rollouts::forget() {
  worlds_.clear();
  cut_.clear();
  actions_.clear();
}

void Rollouts::decide() {
  actions_.resize(worlds_.size());
  policy_->act(pointers(), actions_);
}

void Rollouts::advance(double rate, Pace& pace) {
  beat();  // a decision's worlds may take long to play to their ends
  std::size_t kept = 0;
  for (std::size_t w = 0; w < worlds_.size(); ++w) {
    World& world = worlds_[w];
    const bool own = world.environment->agent() == world.agent;
    if (own) let_time_pass(world);
    const env::StepResult result = world.environment->step(actions_[w]);
    double reward = own ? result.reward : 0;
    for (const env::AgentReward& other : world.environment->other_rewards()) {
      if (other.agent == world.agent) reward += other.reward;
    }
    pace.reward += reward;
    pace.elapsed += result.elapsed;
    *world.sum += world.weight * (reward - rate * result.elapsed);
    world.elapsed += result.elapsed;
    if (result.terminated) continue;
    if (result.truncated) {
      if (world.environment->has_left(world.agent)) continue;
      cut_.push_back(std::move(world));
      continue;
    }
    if (kept != w) worlds_[kept] = std::move(world);
    ++kept;
  }
  worlds_.resize(kept);
  settle_cut();
}

void Rollouts::settle_cut() {
  if (cut_.empty()) return;
  pointers_.clear();
  agents_.clear();
  for (World& world : cut_) {
    let_time_pass(world);
    pointers_.push_back(world.environment.get());
    agents_.push_back(world.agent);
  }
  values_.resize(cut_.size());
  policy_->evaluate_cut(pointers_, agents_, values_);
  auto value = values_.begin();
  for (const World& world : cut_) *world.sum += world.weight * *value++;
  cut_.clear();
}

void Rollouts::settle(bool everywhere) {
  const auto waits = [everywhere](const World& world) {
    return !everywhere && world.environment->agent() != world.agent;
  };
  const auto settled = std::ranges::stable_partition(worlds_, waits);
  if (settled.empty()) return;
  pointers_.clear();
  for (World& world : settled) {
    let_time_pass(world);
    pointers_.push_back(world.environment.get());
  }
  values_.resize(settled.size());
  policy_->evaluate(pointers_, values_);
  auto value = values_.begin();
  for (const World& world : settled) *world.sum += world.weight * *value++;
  worlds_.erase(settled.begin(), settled.end());
}

void Rollouts::let_time_pass(World& world) const {
  if (world.elapsed == 0) return;
  world.weight *= world.elapsed == 1 ? discount_ : std::pow(discount_, world.elapsed);
  world.elapsed = 0;
}

std::span<const env::Environment* const> Rollouts::pointers() {
  pointers_.clear();
  for (const World& world : worlds_) pointers_.push_back(world.environment.get());
  return pointers_;
}

}  // namespace pacml::planning
