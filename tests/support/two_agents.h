#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "actor/vector_env.h"
#include "tests/support/plain_observations.h"

namespace pacml::testing {

// What a writer is told of one environment of two agents, turn by turn as a test says. Globals are
// the time, and 100 more than that of the step in an agent's last state. Two actions, of which 1 is
// taken.
class TwoAgents {
 public:
  struct Turn {
    int agent = 0;
    float reward = 0;
    float elapsed = 1;
    std::vector<env::AgentReward> others{};
    bool terminated = false;
    bool truncated = false;
  };
  struct Step {
    Observations observations;
    std::vector<int> agents, actions{1};
    std::vector<float> log_probs{-0.5F};
    actor::VectorEnv::Outcome outcome;
  };

  TwoAgents() {
    spec_.task = "two_agents";
    spec_.observation = plain_spec(1, 2);
    spec_.observation.agents = 2;
    auto graph = std::make_shared<env::GraphFeatures>();
    graph->hash = GraphHash{5};
    spec_.graphs = {graph};
  }
  [[nodiscard]] const env::EnvironmentSpec& spec() const { return spec_; }
  // What `agent` sees now.
  [[nodiscard]] Observations state(int agent) const { return row(time_, agent); }

  Step act(const Turn& turn) {
    Step step;
    step.observations = state(turn.agent);
    step.agents = {turn.agent};
    auto& outcome = step.outcome;
    outcome.results = {{turn.reward, turn.terminated, turn.truncated, turn.elapsed}};
    for (const auto& other : turn.others) outcome.other_rewards.push_back({0, other});
    outcome.last_observations = spec_.make_observations();
    acted_[turn.agent] = true;
    if (outcome.results[0].final()) {
      outcome.finished.push_back({0, {}});
      for (const int agent : {0, 1}) {
        if (turn.terminated || !acted_[agent]) continue;
        outcome.last_states.push_back({0, agent});
        outcome.last_observations.append_row(row(100 + time_, agent), 0);
      }
      acted_[0] = acted_[1] = false;
    }
    ++time_;
    return step;
  }

 private:
  [[nodiscard]] Observations row(int time, int agent) const {
    Observations out = spec_.make_observations();
    append_plain(out, 0, std::vector{static_cast<float>(time)}, std::vector<std::uint8_t>{0, 1});
    out.row(0).agent[0] = static_cast<std::uint16_t>(agent);
    return out;
  }

  env::EnvironmentSpec spec_;
  int time_ = 0;
  bool acted_[2] = {false, false};
};

}  // namespace pacml::testing
