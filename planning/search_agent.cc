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
namespace {

// A network answers faster for many at once, and each takes memory.
constexpr int kFuturesAtOnce = 32;

}  // namespace

SearchAgent::SearchAgent(const SearchConfig& config, std::unique_ptr<RolloutPolicy> policy,
                         const Clock& clock)
    : config_(config),
      policy_(std::move(policy)),
      rollouts_(config.discount, *policy_),
      clock_(&clock) {}

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
  std::vector<double> sums(actions.size());
  const TimePoint begun = clock_->now();
  while (const int round = next_round(begun)) {
    for (const int end = futures_ + round; futures_ < end; ++futures_) {
      rollouts_.add(environment, actions,
                    derive(decision, Purpose::kEpisode, static_cast<std::uint64_t>(futures_)),
                    sums);
    }
    rollouts_.play(config_.horizon);
  }
  const std::vector<double> own =
      config_.weight < 1 ? policy_->action_values(environment) : std::vector<double>{};
  for (std::size_t a = 0; a < actions.size(); ++a) {
    tried_.push_back({actions[a], sums[a] / futures_});
    if (own.empty()) continue;
    tried_.back().value = config_.weight * tried_.back().value +
                          (1 - config_.weight) * own[static_cast<std::size_t>(actions[a])];
  }
  return std::ranges::max_element(tried_, {}, &Tried::value)->action;
}

int SearchAgent::next_round(TimePoint begun) const {
  const int left = config_.futures - futures_;
  if (config_.seconds == 0) return std::min(left, kFuturesAtOnce);
  if (futures_ == 0) return std::min(left, 1);
  const double taken = std::chrono::duration<double>(clock_->now() - begun).count();
  if (taken >= config_.seconds) return 0;
  // As many as will fit, should they take what the others took.
  const double fit = (config_.seconds - taken) / taken * futures_;
  return std::min(left, fit < kFuturesAtOnce ? std::max(static_cast<int>(fit), 1) : kFuturesAtOnce);
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

}  // namespace pacml::planning
