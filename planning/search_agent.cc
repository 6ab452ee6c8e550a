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

// A network answers faster for many at once, each takes memory, and who is behind is seen after
// a round.
constexpr int kFuturesAtOnce = 8;

}  // namespace

SearchAgent::SearchAgent(const SearchConfig& config, std::unique_ptr<RolloutPolicy> policy,
                         const Clock& clock)
    : config_(config),
      policy_(std::move(policy)),
      rollouts_(config.discount, *policy_),
      clock_(&clock) {
  PACML_CHECK(validate(config).empty(), "a valid configuration");
}

void SearchAgent::reset(Seed seed) {
  rng_ = Rng(derive(seed, Purpose::kHeuristic, 1));
  policy_->reset(seed);
  pace_ = {};
}

int SearchAgent::act(const env::Environment& environment) {
  tried_.clear();
  futures_ = 0;
  const TimePoint begun = clock_->now();
  const Seed decision{rng_.next()};
  const std::vector<int> actions = likely_actions(environment);
  if (actions.size() == 1) return actions.front();
  Race race(actions, priors(environment, actions), config_.weight);
  // One for all futures of a decision, so that they are worth the same whenever they are played.
  const double rate = reward_rate();
  pace_.fade();
  const TimePoint futures_begun = clock_->now();
  while (const int round = next_round(begun, futures_begun)) {
    play_round(environment, race, decision, round, rate);
    race.put_out(config_.race);
    if (race.running().size() == 1) break;
  }
  for (const Race::Runner& runner : race.runners()) {
    tried_.push_back({runner.action, race.worth(runner), static_cast<int>(runner.worth.size())});
  }
  return race.best();
}

void SearchAgent::play_round(const env::Environment& environment, Race& race, Seed decision,
                             int futures, double rate) {
  const std::span<const int> running = race.running();
  sums_.assign(static_cast<std::size_t>(futures) * running.size(), 0);
  for (std::size_t begin = 0; begin < sums_.size(); begin += running.size()) {
    rollouts_.add(environment, running,
                  derive(decision, Purpose::kEpisode, static_cast<std::uint64_t>(futures_++)),
                  std::span(sums_).subspan(begin, running.size()));
  }
  rollouts_.play(config_.horizon, rate);
  pace_ += rollouts_.pace();
  race.add(sums_);
}

double SearchAgent::reward_rate() const {
  return config_.measures_rate && pace_.elapsed > 0 ? pace_.rate() : config_.reward_rate;
}

std::vector<double> SearchAgent::priors(const env::Environment& environment,
                                        std::span<const int> actions) {
  if (config_.weight == 1) return {};
  const auto all = policy_->action_values(environment);
  if (!all) return {};
  std::vector<double> out;
  for (const int action : actions) out.push_back((*all)[static_cast<std::size_t>(action)]);
  return out;
}

int SearchAgent::next_round(TimePoint begun, TimePoint futures_begun) const {
  const int left = config_.futures - futures_;
  if (config_.seconds == 0) return std::min(left, kFuturesAtOnce);
  if (futures_ == 0) return std::min(left, 1);
  const auto since = [now = clock_->now()](TimePoint then) {
    return std::chrono::duration<double>(now - then).count();
  };
  const double left_seconds = config_.seconds - since(begun);
  if (left_seconds <= 0) return 0;
  // As many as will fit, should they take what the others took.
  const double fit = left_seconds / since(futures_begun) * futures_;
  return std::min(left, fit < kFuturesAtOnce ? std::max(static_cast<int>(fit), 1) : kFuturesAtOnce);
}

std::vector<int> SearchAgent::likely_actions(const env::Environment& environment) {
  Observations row = environment.spec().make_observations();
  environment.observe(row);
  const auto mask = row.mask(0);
  const auto likely = policy_->log_probabilities(environment);
  float best = -std::numeric_limits<float>::infinity();
  for (std::size_t a = 0; likely && a < mask.size(); ++a) {
    if (mask[a] != 0) best = std::max(best, (*likely)[a]);
  }
  std::vector<int> actions;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] == 0) continue;
    if (likely && static_cast<double>((*likely)[a]) < best - config_.gap) continue;
    actions.push_back(static_cast<int>(a));
  }
  if (likely) return actions;
  // A rule may do what is not shown.
  const env::Environment* const here[] = {&environment};
  int own = 0;
  policy_->act(here, {&own, 1});
  if (std::ranges::find(actions, own) == actions.end()) actions.push_back(own);
  return actions;
}

}  // namespace pacml::planning
