#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "common/ids.h"
#include "env/environment.h"
#include "planning/rollout_policy.h"

namespace pacml::planning {

// What actions come to in imagined futures: in each an action is taken, then a policy decides, up
// to a horizon, behind which counts what the policy expects to follow. All that has been added is
// played in lockstep, so that a network answers for all of it in one pass.
//
// Where several agents decide in turns, all by the same policy, what counts is what comes to the
// one that takes the action, as env::Environment has it: its rewards, also of others' decisions,
// each worth what its own last decision is. Behind the horizon others decide on until it is its
// turn again, whose value then counts; after 64 decisions of others that of whoever is to decide
// stands in for it. Thread-confined.
class Rollouts {
 public:
  // Borrows the policy. `discount`: of rewards a unit of time later, and of what follows; in (0,
  // 1].
  Rollouts(double discount, RolloutPolicy& policy);

  // Adds each of `actions` of the environment's current decision, in one future of that seed: never
  // the true one, the same for all of them. play() adds what each comes to to `sums` [actions],
  // which is borrowed until then. Pre: actions are valid. UserError: the future cannot be drawn;
  // nothing is borrowed any more.
  void add(const env::Environment& environment, std::span<const int> actions, Seed future,
           std::span<double> sums);
  // Plays what was added since the last call. `horizon`: decisions of each that are played, the
  // first one included, whoever takes them; >= 1. `rate`: taken off every reward for each unit of
  // time. Whatever the policy throws, nothing is borrowed any more.
  void play(int horizon, double rate = 0);

  // What a policy's decisions came to.
  struct Pace {
    double reward = 0;
    double elapsed = 0;

    Pace& operator+=(const Pace& other) {
      reward += other.reward;
      elapsed += other.elapsed;
      return *this;
    }
    // What there is so far weighs less than what comes: a hundredth with each call.
    void fade() {
      constexpr double kMemory = 0.99;
      reward *= kMemory;
      elapsed *= kMemory;
    }
    // Reward of a unit of time. Pre: elapsed > 0.
    [[nodiscard]] double rate() const { return reward / elapsed; }
  };
  // Of the policy's own in the last play(), all but the first of each future.
  [[nodiscard]] const Pace& pace() const { return pace_; }

  // That were added and not played.
  [[nodiscard]] std::size_t size() const { return worlds_.size(); }

 private:
  struct World {
    std::unique_ptr<env::Environment> environment;
    double* sum = nullptr;
    int agent = 0;       // whose rewards count
    double weight = 1;   // of its last decision: discounted by the time that has passed until then
    double elapsed = 0;  // since then
  };
  void forget();
  // The policy decides in worlds_.
  void decide();
  // Steps worlds_ with actions_; those that end are dropped. What came of it is added to `pace`.
  void advance(double rate, Pace& pace);
  // Adds what would have followed in those whose episodes were cut, and drops them.
  void settle_cut();
  // Adds what is expected to follow, where it is the turn of the world's own agent, or everywhere,
  // and drops those worlds.
  void settle(bool everywhere);
  // Discounts what is still to come by the time since the agent's last decision.
  void let_time_pass(World& world) const;
  [[nodiscard]] std::span<const env::Environment* const> pointers();

  double discount_;
  RolloutPolicy* policy_;
  std::vector<World> worlds_;
  std::vector<int> actions_;  // [worlds]
  std::vector<World> cut_;    // of the last step, which are not among worlds_ any more
  Pace pace_;
  // Scratch.
  std::vector<const env::Environment*> pointers_;
  std::vector<int> agents_;
  std::vector<double> values_;
};

}  // namespace pacml::planning
