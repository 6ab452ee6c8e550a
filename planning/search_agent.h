#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "common/clock.h"
#include "common/rng.h"
#include "env/agent.h"
#include "planning/race.h"
#include "planning/rollout_policy.h"
#include "planning/rollouts.h"
#include "planning/search_config.h"

namespace pacml::planning {

// Tries every action that its policy finds likely in imagined futures, and takes the one that does
// best: rollouts (Tesauro and Galperin 1996). Of a rule that is every valid action and its own,
// should that be none of those that are shown. Futures are drawn anew for each decision, never the
// true one, the same ones for all actions; the policy decides in them, up to the horizon, where
// what it expects to follow counts. Actions that fall behind are tried no further (race.h). A
// function of the episode's seed and of what was decided before, unless there is a limit of time.
// Of equals the first action is taken. Thread-confined.
class SearchAgent final : public env::Agent {
 public:
  // Borrows the clock. Pre: validate(config) finds nothing (PACML_CHECK).
  SearchAgent(const SearchConfig& config, std::unique_ptr<RolloutPolicy> policy,
              const Clock& clock = steady());

  void reset(Seed seed) override;
  // UserError: the environment's future cannot be drawn.
  [[nodiscard]] int act(const env::Environment& environment) override;

  // Of the last decision: the actions that were tried, what each came to on average, with what
  // the policy said of it where that has a weight, and in how many futures. Empty where there was
  // nothing to choose.
  struct Tried {
    int action = 0;
    double value = 0;
    int futures = 0;
  };
  [[nodiscard]] const std::vector<Tried>& tried() const { return tried_; }
  // In how many the one that was taken was tried.
  [[nodiscard]] int futures() const { return futures_; }
  // What is taken off every reward of the next decision for each unit of time.
  [[nodiscard]] double reward_rate() const;

 private:
  [[nodiscard]] std::vector<int> likely_actions(const env::Environment& environment);
  // What the policy says that they are worth; empty: nothing, or nobody asks.
  [[nodiscard]] std::vector<double> priors(const env::Environment& environment,
                                           std::span<const int> actions);
  // Plays what still runs in so many further futures of the decision of that seed; `rate`: taken
  // off rewards.
  void play_round(const env::Environment& environment, Race& race, Seed decision, int futures,
                  double rate);
  // How many more futures to play at once, of a decision and its futures that began then; 0: none.
  [[nodiscard]] int next_round(TimePoint begun, TimePoint futures_begun) const;

  SearchConfig config_;
  std::unique_ptr<RolloutPolicy> policy_;
  Rollouts rollouts_;
  const Clock* clock_;
  Rng rng_{Seed{0}};
  std::vector<Tried> tried_;
  int futures_ = 0;
  Rollouts::Pace pace_;       // of the policy, lately
  std::vector<double> sums_;  // scratch: [futures of a round, actions]
};

}  // namespace pacml::planning
