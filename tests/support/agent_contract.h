#pragma once

#include <vector>

#include "env/agent.h"
#include "tests/support/catch.h"
#include "tests/support/environment_contract.h"

// What every agent that draws nothing promises (env/agent.h), as a check that a test runs on each.
namespace pacml::testing {

// An agent decides in an episode as it does alone, whatever it is asked in between about another
// episode and about copies of this one.
inline void check_agent_contract(const MakeEnvironment& make, env::Agent& agent, Seed seed) {
  const auto alone = make();
  alone->reset(seed);
  agent.reset(seed);
  std::vector<int> expected;
  for (bool is_over = false; !is_over;) {
    expected.push_back(agent.act(*alone));
    is_over = alone->step(expected.back()).final();
  }
  const auto first = make();
  const auto second = make();
  first->reset(seed);
  second->reset(Seed{seed.get() + 1});
  agent.reset(seed);
  for (const int action : expected) {
    const int copied = agent.act(*first->clone());
    REQUIRE(copied == action);
    const auto elsewhere = first->clone();
    if (!elsewhere->step(0).final()) static_cast<void>(elsewhere->step(agent.act(*elsewhere)));
    if (second->step(agent.act(*second)).final()) second->reset(seed);
    REQUIRE(agent.act(*first) == action);
    REQUIRE(agent.act(*first) == action);  // asking changes nothing
    if (first->step(action).final()) break;
  }
  CHECK(first->summary().episode_return == alone->summary().episode_return);
}

}  // namespace pacml::testing
