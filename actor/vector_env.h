#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "common/ids.h"
#include "env/environment.h"

namespace pacml::actor {

// Environments of which B are stepped in lockstep, their observations in the rows of one batch: all
// at first, then as many as select() says, while the others stand still. In each an agent decides
// at a time. A finished environment starts its next episode at once: its row is then the new
// episode's first observation, and the last ones of an old episode that was cut are handed out
// apart. Episode e of environment i is a pure function of (stream, i, e). Thread-confined.
//
// Whatever observes throws UserError where a feature, or a reward, is infinite or no number, with
// its name: no network is asked about it, and no learner learns from it.
class VectorEnv {
 public:
  // Every environment starts its first episode. Pre: size > 0.
  VectorEnv(const env::EnvironmentFactory& make, std::size_t size, Seed stream);

  struct Finished {
    std::size_t row = 0;
    EpisodeRecord summary;
  };
  // What an agent of a row's environment got in a step for which another one decided.
  struct OtherReward {
    std::size_t row = 0;
    env::AgentReward reward;
  };
  struct LastState {
    std::size_t row = 0;
    int agent = 0;
  };
  // What came of a step.
  struct Outcome {
    std::vector<env::StepResult> results;    // [B]
    std::vector<OtherReward> other_rewards;  // row after row
    std::vector<Finished> finished;          // rows whose environments finished, in order
    // Where that cut an episode, which did not terminate: every agent that decided in it and had
    // not left, row after row, and what it would see next.
    std::vector<LastState> last_states;
    Observations last_observations;  // [last_states]
  };

  [[nodiscard]] const env::EnvironmentSpec& spec() const { return environments_.front()->spec(); }
  // B, the environments that are stepped.
  [[nodiscard]] std::size_t size() const { return selected_.size(); }
  // ... and all that there are.
  [[nodiscard]] std::size_t total() const { return environments_.size(); }
  // Which environment is in each row.
  [[nodiscard]] std::span<const std::size_t> selected() const { return selected_; }
  // From now on so many are stepped: in turns, those that follow the present ones, the first after
  // the last. Nothing changes where all are and stay selected. Pre: 1 <= count <= total().
  void select(std::size_t count);
  [[nodiscard]] const Observations& observations() const { return observations_; }
  // Who decides in each row [B].
  [[nodiscard]] std::span<const int> agents() const { return agents_; }

  // Of a row, as it waits for a decision. Borrowed.
  [[nodiscard]] const env::Environment& environment(std::size_t row) const {
    return *environments_[selected_[row]];
  }

  // Takes actions [B]. Borrowed until the next call.
  const Outcome& step(std::span<const int> actions);

 private:
  [[nodiscard]] bool is_agent(int agent) const {
    return agent >= 0 && agent < static_cast<int>(spec().observation.agents);
  }
  void start_episode(std::size_t environment);
  // Fills in a row.
  void look(std::size_t row);
  void finish(std::size_t row);

  Seed stream_;
  std::vector<std::unique_ptr<env::Environment>> environments_;
  std::vector<std::uint64_t> episodes_;  // started, per environment
  std::vector<std::vector<int>> acted_;  // agents that decided in its episode, per environment
  std::vector<std::size_t> selected_;    // [B]
  Observations observations_;
  std::vector<int> agents_;  // [B]
  Outcome outcome_;
};

}  // namespace pacml::actor
