#pragma once

#include "common/ids.h"
#include "env/environment.h"

namespace pacml::env {

// Whoever chooses actions: a heuristic, a trained policy, a search. Thread-confined.
//
// It may be asked about several environments in turn, in any order, copies of one another among
// them: what it answers of one is an action of that one, whatever it was asked about others. Unless
// it draws, it is also the same as if that were the only one.
class Agent {
 public:
  virtual ~Agent() = default;
  // Called at the start of an episode, so that what an agent draws is a function of the seed.
  virtual void reset(Seed /*seed*/) {}
  // The action for the current decision. Pre: the environment is of the agent's task (PACML_CHECK).
  [[nodiscard]] virtual int act(const Environment& environment) = 0;
};

}  // namespace pacml::env
