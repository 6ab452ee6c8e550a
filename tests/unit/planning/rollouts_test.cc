#include "planning/rollouts.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/heartbeat.h"
#include "common/result.h"
#include "model/layout.h"
#include "planning/rollout_policy.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"
#include "tests/support/signal_chain.h"

namespace pacml::planning {
namespace {

constexpr int kNever = 1'000'000;
constexpr double kDiscount = 0.9;

int coin_of(const env::Environment& environment) {
  Observations row = environment.spec().make_observations();
  environment.observe(row);
  return row.graph(0);
}

// Always forward; expects 8 wherever it is asked.
class Forward final : public RolloutPolicy {
 public:
  void act(std::span<const env::Environment* const> environments, std::span<int> actions) override {
    largest = std::max(largest, environments.size());
    for (std::size_t i = 0; i < environments.size(); ++i) actions[i] = coin_of(*environments[i]);
  }
  void evaluate(std::span<const env::Environment* const> /*environments*/,
                std::span<double> values) override {
    for (double& value : values) value = 8;
  }
  std::optional<std::vector<float>> log_probabilities(
      const env::Environment& /*environment*/) override {
    return std::nullopt;
  }
  std::size_t largest = 0;
};

TEST_CASE("futures of several decisions are played at once, each for itself", "[planning]") {
  Forward policy;
  Rollouts rollouts(kDiscount, policy);
  std::vector<std::unique_ptr<env::SignalChain>> chains;
  std::vector<std::vector<double>> sums;
  const std::vector<int> both = {0, 1};
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    chains.push_back(std::make_unique<env::SignalChain>(kNever));
    chains.back()->reset(Seed{seed});
    sums.push_back({0, 0});
  }
  for (int play = 0; play < 2; ++play) {
    for (std::size_t i = 0; i < chains.size(); ++i) {
      for (std::uint64_t k = 0; k < 3; ++k) rollouts.add(*chains[i], both, Seed{k}, sums[i]);
    }
    CHECK(rollouts.size() == 6 * 3 * 2);
    rollouts.play(2 * env::SignalChain::kLength);
    CHECK(rollouts.size() == 0);
  }
  CHECK(policy.largest > 6);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    Observations row = chains[i]->spec().make_observations();
    chains[i]->observe(row);
    int place = 0;
    while (row.globals(0)[static_cast<std::size_t>(place)] == 0) ++place;
    const int coin = row.graph(0);
    const auto best = [](int p) { return env::SignalChain::best_value(p, kDiscount); };
    CHECK(sums[i][static_cast<std::size_t>(coin)] / 6 == Approx(best(place)));
    CHECK(sums[i][static_cast<std::size_t>(1 - coin)] / 6 ==
          Approx(kDiscount * best(place > 0 ? place - 1 : 0)));
  }
}

TEST_CASE("whoever plays futures beats at each of their decisions", "[planning]") {
  int beats = 0;
  const Chore count(Duration{0}, [&beats] { ++beats; });
  Forward policy;
  Rollouts rollouts(kDiscount, policy);
  env::SignalChain chain(kNever);
  chain.reset(Seed{1});
  std::vector<double> sums = {0};
  const std::vector<int> back = {1 - coin_of(chain)};
  rollouts.add(chain, back, Seed{1}, sums);
  rollouts.play(2);
  CHECK(beats == 2);
}

TEST_CASE("a rate is taken off each unit of time, and the policy's own pace is told",
          "[planning]") {
  Forward policy;
  Rollouts rollouts(kDiscount, policy);
  env::SignalChain chain(kNever);
  chain.reset(Seed{1});
  const std::vector<int> wrong = {1 - coin_of(chain)};
  const auto value = [&](int horizon, double rate) {
    std::vector<double> sum = {0};
    rollouts.add(chain, wrong, Seed{7}, sum);
    rollouts.play(horizon, rate);
    return sum[0];
  };
  // One step and what is expected then; the first step is not the policy's.
  CHECK(value(1, 0) == Approx(kDiscount * 8));
  CHECK(rollouts.pace().elapsed == 0);
  CHECK(value(1, 0.5) == Approx(-0.5 + kDiscount * 8));
  // One more, by the policy, if it does not end there.
  const double two = value(2, 0);
  CHECK(rollouts.pace().elapsed == 1);
  CHECK(value(2, 0.5) == Approx(two - 0.5 - kDiscount * 0.5));
  // To the end, which pays 1.
  static_cast<void>(value(2 * env::SignalChain::kLength, 0));
  CHECK(rollouts.pace().reward == 1);
  CHECK(rollouts.pace().elapsed >= 1);
  CHECK(rollouts.pace().elapsed <= env::SignalChain::kLength);
}

// Two agents in turns: who decides gets 1, and the other one 10 for what it decided last. Each sees
// its own number, and the episode is cut after `length` steps.
class Relay final : public env::Environment {
 public:
  explicit Relay(int length = kNever, std::optional<int> leaves = {})
      : left_(length), leaves_(leaves) {
    spec_.task = "relay";
    spec_.observation = plain_spec(1, 1);
    spec_.observation.agents = 2;
  }
  [[nodiscard]] const env::EnvironmentSpec& spec() const override { return spec_; }
  void reset(Seed /*seed*/) override { agent_ = 0; }
  [[nodiscard]] env::StepResult step(int /*action*/) override {
    agent_ = 1 - agent_;
    other_ = {agent_, 10};
    return {.reward = 1, .truncated = --left_ == 0};
  }
  [[nodiscard]] int agent() const override { return agent_; }
  [[nodiscard]] std::span<const env::AgentReward> other_rewards() const override {
    return {&other_, 1};
  }
  void observe(Observations& out) const override { observe_last(agent_, out); }
  [[nodiscard]] bool has_left(int agent) const override { return agent == leaves_; }
  void observe_last(int agent, Observations& out) const override {
    const float shown[] = {static_cast<float>(agent)};
    const std::uint8_t mask[] = {1};
    append_plain(out, 0, shown, mask);
  }
  [[nodiscard]] std::unique_ptr<Environment> clone() const override {
    return std::make_unique<Relay>(*this);
  }
  [[nodiscard]] bool resample_future(Seed /*seed*/) override { return true; }
  [[nodiscard]] EpisodeRecord summary() const override { return {}; }

 private:
  env::EnvironmentSpec spec_;
  int left_;
  std::optional<int> leaves_;  // before the episode is cut
  int agent_ = 0;
  env::AgentReward other_;
};

// The same, and what it expects depends on who is asked.
class RelayPolicy final : public RolloutPolicy {
 public:
  void act(std::span<const env::Environment* const> /*environments*/,
           std::span<int> actions) override {
    if (broken) throw UserError("broken");
    std::ranges::fill(actions, 0);
  }
  void evaluate(std::span<const env::Environment* const> environments,
                std::span<double> values) override {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = environments[i]->agent() == 0 ? 8 : 1e6;
  }
  std::optional<std::vector<float>> log_probabilities(
      const env::Environment& /*environment*/) override {
    return std::nullopt;
  }
  bool broken = false;
};

TEST_CASE("what comes to the agent that decides counts, whoever decides then", "[planning]") {
  RelayPolicy policy;
  Rollouts rollouts(kDiscount, policy);
  const Relay relay;
  const std::vector<int> only = {0};
  const auto worth = [&](int horizon) {
    std::vector<double> sum = {0};
    rollouts.add(relay, only, Seed{1}, sum);
    rollouts.play(horizon);
    return sum[0];
  };
  const double later = kDiscount * kDiscount;  // its second decision
  // A decision is worth what comes until the next one, which others' decisions are a part of.
  CHECK(worth(1) == Approx(11 + later * 8));
  CHECK(worth(2) == Approx(11 + later * 8));
  CHECK(worth(3) == Approx(11 + later * 11 + later * later * 8));
}

// A network that expects 8 for agent 0, and far more for the other one.
class SaysByAgent final : public model::Policy {
 public:
  void set_graphs(std::span<const env::GraphFeaturesPtr> /*graphs*/) override {}
  [[nodiscard]] const model::ParameterLayout& layout() const override { return layout_; }
  void set_parameters(const model::Parameters& /*parameters*/) override {}
  void evaluate(const Observations& batch, model::PolicyOutput& out) override {
    out.logits.assign(batch.size(), 0);
    out.values.clear();
    for (std::size_t b = 0; b < batch.size(); ++b) {
      out.values.push_back(batch.globals(b)[0] == 0 ? 8.0F : 1e6F);
    }
  }

 private:
  model::ParameterLayout layout_;
};

TEST_CASE("where an episode is cut, each agent's own observation says what would have followed",
          "[planning]") {
  // Cut where the other agent would decide.
  const auto leaves = GENERATE(std::optional<int>(), std::optional(0), std::optional(1));
  const Relay relay(3, leaves);
  SaysByAgent network;
  const auto policy = make_network_policy(network, relay.spec().make_observations().shape(),
                                          model::ValueHeads::kValue);
  Rollouts rollouts(kDiscount, *policy);
  const std::vector<int> only = {0};
  std::vector<double> sum = {0};
  rollouts.add(relay, only, Seed{1}, sum);
  rollouts.play(10);
  const double later = kDiscount * kDiscount;  // its second decision
  CHECK(sum[0] == Approx(11 + later * (1 + (leaves == 0 ? 0 : kDiscount * 8))));
}

// Nobody is expected to be asked twice of one step.
class CountsQuestions final : public RolloutPolicy {
 public:
  void act(std::span<const env::Environment* const> /*environments*/,
           std::span<int> actions) override {
    std::ranges::fill(actions, 0);
  }
  void evaluate(std::span<const env::Environment* const> environments,
                std::span<double> values) override {
    asked.push_back(environments.size());
    std::ranges::fill(values, 4.0);
  }
  std::optional<std::vector<float>> log_probabilities(
      const env::Environment& /*environment*/) override {
    return std::nullopt;
  }
  std::vector<std::size_t> asked;
};

TEST_CASE("of all episodes that a step cuts the policy is asked at once", "[planning]") {
  CountsQuestions policy;
  Rollouts rollouts(kDiscount, policy);
  env::SignalChain chain(1);  // every episode is cut after a step
  chain.reset(Seed{1});
  std::vector<double> sums(6, 0);
  const std::vector<int> actions = {0, 1};
  for (std::uint64_t future = 0; future < 3; ++future) {
    rollouts.add(chain, actions, Seed{future}, std::span(sums).subspan(2 * future, 2));
  }
  rollouts.play(5);
  CHECK(policy.asked == std::vector<std::size_t>{6});
  for (const double sum : sums) CHECK(sum == Approx(4 * kDiscount));
}

TEST_CASE("a policy that throws leaves nothing behind", "[planning]") {
  RelayPolicy policy;
  Rollouts rollouts(kDiscount, policy);
  const Relay relay;
  const std::vector<int> only = {0};
  policy.broken = true;
  {
    std::vector<double> gone = {0};
    rollouts.add(relay, only, Seed{1}, gone);
    CHECK_THROWS_AS(rollouts.play(1), UserError);
  }
  CHECK(rollouts.size() == 0);
  policy.broken = false;
  std::vector<double> sum = {0};
  rollouts.add(relay, only, Seed{1}, sum);
  rollouts.play(1);
  CHECK(sum[0] == Approx(11 + kDiscount * kDiscount * 8));
}

}  // namespace
}  // namespace pacml::planning
