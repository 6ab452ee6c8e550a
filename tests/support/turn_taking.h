#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/experience/sequences.h"
#include "common/rng.h"
#include "env/environment.h"
#include "tests/support/plain_observations.h"

namespace pacml::env {

// What happened in a step, as whoever has the whole history before him sees it.
struct TurnStep {
  int agent = 0;
  int action = 0;
  StepResult result;
  std::vector<AgentReward> others;
  std::vector<bool> left;  // of each agent, where the step cut the episode
};

// Agents that decide in any order, whatever they do: who is next, how long a step takes, what it
// pays to whom and how the episode ends is chance, of the seed alone. Observation k of an
// environment: globals {1000 mark + k, 0}, action k mod 3 masked; the last state of an agent whose
// episode was cut after step k: {1000 mark + k, 1 + agent}. Steps are added to a log that is the
// caller's. Thread-confined.
class TurnTaking final : public Environment {
 public:
  static constexpr int kActions = 3;

  TurnTaking(std::uint32_t agents, std::size_t mark, std::vector<TurnStep>& log)
      : mark_(mark), log_(&log) {
    spec_.task = "turn_taking";
    spec_.observation = plain_spec(2, kActions);
    spec_.observation.agents = agents;
    auto graph = std::make_shared<GraphFeatures>();
    graph->hash = GraphHash{5};
    spec_.graphs = {graph};
    spec_.graph_names = {"graph"};
    spec_.metrics = {{"return", "return", "1", Better::kHigher, 3, {}}};
  }

  [[nodiscard]] const EnvironmentSpec& spec() const override { return spec_; }
  void reset(Seed seed) override {
    rng_ = Rng(seed);
    summary_ = {};
    others_.clear();
    next_agent();
  }
  [[nodiscard]] StepResult step(int action) override {
    PACML_CHECK(action >= 0 && action < kActions &&
                    static_cast<std::size_t>(action) != log_->size() % kActions,
                "a valid action");
    StepResult result;
    result.reward = static_cast<float>(rng_.normal());
    result.elapsed = rng_.below(2) == 0 ? 1 : 0.25F * static_cast<float>(1 + rng_.below(12));
    result.terminated = rng_.below(8) == 0;
    result.truncated = rng_.below(8) == 0;
    others_.clear();
    for (auto left = rng_.below(3); left > 0; --left) {
      others_.push_back({static_cast<int>(rng_.below(spec_.observation.agents)),
                         static_cast<float>(rng_.normal())});
    }
    left_.clear();
    for (std::uint32_t agent = 0; agent < spec_.observation.agents; ++agent) {
      left_.push_back(spec_.observation.agents > 1 && rng_.below(3) == 0);
    }
    log_->push_back({agent_, action, result, others_, left_});
    ++summary_.decisions;
    next_agent();
    return result;
  }
  [[nodiscard]] int agent() const override { return agent_; }
  [[nodiscard]] std::span<const AgentReward> other_rewards() const override { return others_; }
  void observe(Observations& out) const override { show(log_->size(), 0, agent_, out); }
  [[nodiscard]] bool has_left(int agent) const override {
    return left_[static_cast<std::size_t>(agent)];
  }
  void observe_last(int agent, Observations& out) const override {
    PACML_CHECK(!has_left(agent), "nothing follows for who has left");
    show(log_->size() - 1, 1 + agent, agent, out);
  }
  [[nodiscard]] std::unique_ptr<Environment> clone() const override {
    return std::make_unique<TurnTaking>(*this);
  }
  [[nodiscard]] bool resample_future(Seed /*seed*/) override { return false; }
  [[nodiscard]] EpisodeRecord summary() const override { return summary_; }

  // ---- What the steps of an environment came to ----

  struct Decision {
    std::size_t at = 0;      // which step of the log
    std::uint32_t step = 0;  // which of its agent's in the episode
    double reward = 0;
    double elapsed = 0;
    std::uint8_t flags = 0;           // as those of Sequences
    std::size_t last = 0;             // the episode's last step, where it ended before the next
    std::optional<std::size_t> next;  // where the agent decides again, in whichever episode
  };
  // Of one agent, in order. `elapsed` and `reward` of one whose outcome is not known are so far.
  [[nodiscard]] static std::vector<Decision> decisions_of(const std::vector<TurnStep>& log,
                                                          int agent) {
    std::vector<Decision> out;
    std::uint32_t step = 0;
    for (std::size_t at = 0; at < log.size(); ++at) {
      if (log[at].agent == agent) {
        Decision decision{at, step++, log[at].result.reward, 0, 0, 0, {}};
        for (std::size_t later = at; later < log.size(); ++later) {
          if (later > at && log[later].agent == agent) break;
          decision.elapsed += log[later].result.elapsed;
          for (const AgentReward& other : log[later].others) {
            if (other.agent == agent) decision.reward += other.reward;
          }
          const StepResult& result = log[later].result;
          if (!result.final()) continue;
          const bool left = !result.terminated && log[later].left[static_cast<std::size_t>(agent)];
          decision.flags =
              static_cast<std::uint8_t>((result.terminated || left ? Sequences::kTerminated : 0) |
                                        (result.truncated && !left ? Sequences::kTruncated : 0));
          decision.last = later;
          break;
        }
        for (std::size_t later = at + 1; later < log.size() && !decision.next; ++later) {
          if (log[later].agent == agent) decision.next = later;
        }
        out.push_back(decision);
      }
      if (log[at].result.final()) step = 0;
    }
    return out;
  }

 private:
  void next_agent() { agent_ = static_cast<int>(rng_.below(spec_.observation.agents)); }
  void show(std::size_t step, int last, int agent, Observations& out) const {
    const ObservationRow row = out.append();
    row.globals[0] = static_cast<float>(1000 * mark_ + step);
    row.globals[1] = static_cast<float>(last);
    for (std::size_t a = 0; a < kActions; ++a) row.mask[a] = a == step % kActions ? 0 : 1;
    for (auto& decides : row.agent) decides = static_cast<std::uint16_t>(agent);
  }

  std::size_t mark_;
  std::vector<TurnStep>* log_;
  EnvironmentSpec spec_;
  Rng rng_{Seed{0}};
  EpisodeRecord summary_;
  std::vector<AgentReward> others_;
  std::vector<bool> left_;  // as of the last step
  int agent_ = 0;
};

}  // namespace pacml::env
