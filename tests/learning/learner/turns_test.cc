#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "actor/actor_loop.h"
#include "actor/impala_behaviour.h"
#include "learner/impala.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"
#include "tests/support/tabular_network.h"
#include "tests/support/train_batches.h"

// Two agents that decide in turns learn from the sequences of an actor what each of them had best
// do, from environment to weights: rewards that come late, and steps that take long.

namespace pacml::learner {
namespace {

constexpr double kDiscount = 0.9;
constexpr std::size_t kTurns = 8;
constexpr int kTurnOf[kTurns] = {0, 1, 0, 0, 1, 0, 1, 1};
constexpr std::size_t kActions = 3;

// Eight decisions, then the end. Each is one of
//
//   0  1 at once
//   1  2, in the next step of the other agent; at once, where the same agent goes on
//   2  2.5 at once, and the step takes 6
//
// of which 1 is best for who decides again, since it has more to lose by waiting than 0.5, and 2 at
// an agent's last turn. Who loses rewards that come late prefers 2; who does not know how long
// steps take does so, too. What agent 1 gets is three times as much.
class Turns final : public env::Environment {
 public:
  Turns() {
    spec_.task = "turns";
    spec_.observation = plain_spec(1, kActions);
    spec_.observation.agents = 2;
    auto graph = std::make_shared<env::GraphFeatures>();
    graph->hash = kOnlyGraph;
    spec_.graphs = {graph};
    spec_.graph_names = {"graph"};
    spec_.metrics = {{"return", "return", "1", env::Better::kHigher, 3, {}}};
  }
  [[nodiscard]] const env::EnvironmentSpec& spec() const override { return spec_; }
  void reset(Seed seed) override {
    // Not always at the beginning: every decision is met often enough.
    turn_ = static_cast<std::size_t>(Rng(seed).below(3));
    owed_ = 0;
    summary_ = {};
  }
  [[nodiscard]] env::StepResult step(int action) override {
    const int mine = agent();
    const float unit = mine == 1 ? 3 : 1;
    others_.clear();
    if (owed_ > 0) others_.push_back({1 - mine, owed_});
    owed_ = 0;
    ++turn_;
    ++summary_.decisions;
    env::StepResult result;
    result.terminated = turn_ == kTurns;
    result.reward = action == 0 ? unit : (action == 2 ? 2.5F * unit : 0);
    if (action == 2) result.elapsed = 6;
    if (action == 1) {
      const bool late = !result.terminated && agent() != mine;
      (late ? owed_ : result.reward) = 2 * unit;
    }
    return result;
  }
  [[nodiscard]] int agent() const override { return kTurnOf[std::min(turn_, kTurns - 1)]; }
  [[nodiscard]] std::span<const env::AgentReward> other_rewards() const override { return others_; }
  void observe(Observations& out) const override {
    const ObservationRow row = out.append();
    row.globals[0] = static_cast<float>(std::min(turn_, kTurns - 1));
    for (auto& valid : row.mask) valid = 1;
    row.agent[0] = static_cast<std::uint16_t>(agent());
  }
  [[nodiscard]] std::unique_ptr<env::Environment> clone() const override {
    return std::make_unique<Turns>(*this);
  }
  [[nodiscard]] bool resample_future(Seed /*seed*/) override { return true; }
  [[nodiscard]] EpisodeRecord summary() const override { return summary_; }

  // Goes on at this turn.
  void begin_at(std::size_t turn) {
    reset(Seed{0});
    turn_ = turn;
  }

 private:
  env::EnvironmentSpec spec_;
  std::size_t turn_ = 0;
  float owed_ = 0;  // to the agent that decided last
  std::vector<env::AgentReward> others_;
  EpisodeRecord summary_;
};

// What the agent of a turn gets from there on, where everybody does as `actions` says; its rewards
// discounted by the time until the decision that they are for, as it is defined.
double value_of(std::size_t turn, std::span<const int> actions) {
  Turns world;
  world.begin_at(turn);
  const int agent = kTurnOf[turn];
  double value = 0;
  double passed = 0;
  double decided = 0;  // when the agent decided last
  for (std::size_t t = turn; t < kTurns; ++t) {
    const bool mine = world.agent() == agent;
    if (mine) decided = passed;
    const auto result = world.step(actions[t]);
    const double weight = std::pow(kDiscount, decided);
    if (mine) value += weight * double{result.reward};
    for (const auto& other : world.other_rewards()) {
      if (other.agent == agent) value += weight * double{other.reward};
    }
    passed += double{result.elapsed};
  }
  return value;
}

// Each agent's best, given what comes after: from the last turn back.
std::vector<int> best_actions() {
  std::vector<int> actions(kTurns, 0);
  for (std::size_t turn = kTurns; turn-- > 0;) {
    std::vector<double> values;
    for (int action = 0; action < static_cast<int>(kActions); ++action) {
      actions[turn] = action;
      values.push_back(value_of(turn, actions));
    }
    actions[turn] = static_cast<int>(std::ranges::max_element(values) - values.begin());
  }
  return actions;
}

std::vector<float> train(Seed seed) {
  constexpr std::int64_t kUpdates = 600;
  constexpr actor::ActorConfig kActing{.environments = 8, .unroll_length = 12};
  model::TabularNetwork network(kTurns, 1, kActions);
  ImpalaConfig config;
  config.discount = kDiscount;
  config.advantage_scaling = AdvantageScaling::kBatch;
  config.learning_rate = {
      .kind = ScheduleKind::kLinear, .start = 0.05, .end = 0.002, .decisions = kUpdates * 96};
  config.entropy_cost = {
      .kind = ScheduleKind::kLinear, .start = 0.05, .end = 0, .decisions = kUpdates * 72};
  Impala impala(config, network);
  model::TabularPolicy policy(kTurns, kActions);
  const env::EnvironmentSpec spec = Turns().spec();
  actor::ActorLoop actor(
      kActing, [] { return std::make_unique<Turns>(); }, policy,
      std::make_unique<actor::ImpalaBehaviour>(spec, kActing, seed), seed);
  const GraphRegistry graphs = one_graph();
  TrainBatch batch;
  for (std::int64_t update = 0; update < kUpdates; ++update) {
    if (update % 2 == 0) actor.set_parameters(impala.snapshot());
    const auto sequences = std::get<Sequences>(actor.run_message());
    REQUIRE(validate(sequences));
    assemble(std::vector<const Sequences*>{&sequences}, graphs, batch);
    REQUIRE(impala.update(batch).value().outcome == Outcome::kApplied);
  }
  return impala.snapshot().values;
}

TEST_CASE("two agents in turns find what is best for each, and what it is worth",
          "[learning][learner]") {
  const std::vector<int> best = best_actions();
  REQUIRE(best == std::vector<int>{1, 1, 1, 1, 1, 2, 1, 2});
  const auto seed = GENERATE(range<std::uint64_t>(1, 6));
  INFO("seed " << seed);
  const std::vector<float> weights = train(Seed{seed});
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    INFO("turn " << turn);
    const auto row = std::span(weights).subspan(turn * kActions, kActions);
    const float preferred = row[static_cast<std::size_t>(best[turn])];
    double sum = 0;
    for (const float logit : row) sum += std::exp(double{logit} - double{preferred});
    CHECK(1 / sum > 0.8);
    const double value = weights[kTurns * kActions + turn] + weights.back();
    const double expected = value_of(turn, best);
    CHECK(value == Approx(expected).epsilon(0.1));
  }
}

}  // namespace
}  // namespace pacml::learner
