#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "common/clock.h"
#include "common/rng.h"
#include "env/agent.h"
#include "planning/rollout_policy.h"
#include "planning/search_config.h"

namespace pacml::planning {

// Tries every action that its policy finds likely in imagined futures, and takes the one that does
// best: rollouts (Tesauro and Galperin 1996). Futures are drawn anew for each decision, never the
// true one, the same ones for all actions; the policy decides in them, up to the horizon, where
// what it expects to follow counts. A function of the episode's seed and of what was decided
// before, unless there is a limit of time. Of equals the first action is taken. Thread-confined.
class SearchAgent final : public env::Agent {
 public:
  // Borrows the clock. Pre: validate(config) finds nothing (PACML_CHECK).
  SearchAgent(const SearchConfig& config, std::unique_ptr<RolloutPolicy> policy,
              const Clock& clock = steady());

  void reset(Seed seed) override;
  // UserError: the environment's future cannot be drawn.
  [[nodiscard]] int act(const env::Environment& environment) override;

  // Of the last decision: the actions that were tried, what each came to on average, and in how
  // many futures. Empty where there was nothing to choose.
  struct Tried {
    int action = 0;
    double value = 0;
  };
  [[nodiscard]] const std::vector<Tried>& tried() const { return tried_; }
  [[nodiscard]] int futures() const { return futures_; }

 private:
  // A future in which one of tried_ is played.
  struct World {
    std::unique_ptr<env::Environment> environment;
    std::ptrdiff_t tried = 0;
    double weight = 1;  // of what comes next: discounted by the time that has passed
  };
  [[nodiscard]] std::vector<int> likely_actions(const env::Environment& environment);
  // Adds what each of tried_ comes to in one more future.
  void play(const env::Environment& environment, Seed future);
  // Steps worlds_ with actions_; those that end are dropped.
  void advance();
  // Of what follows the horizon.
  void add_values();
  [[nodiscard]] std::span<const env::Environment* const> pointers();

  SearchConfig config_;
  std::unique_ptr<RolloutPolicy> policy_;
  const Clock* clock_;
  Rng rng_{Seed{0}};
  std::vector<Tried> tried_;
  int futures_ = 0;
  std::vector<World> worlds_;
  // Scratch.
  std::vector<const env::Environment*> pointers_;
  std::vector<int> actions_;
  std::vector<double> values_;
};

}  // namespace pacml::planning
