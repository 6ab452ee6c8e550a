#include "actor/nstep_writer.h"

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"
#include "tests/support/two_agents.h"

// Examples worked out by hand; tests/property/actor holds the writer against a model.

namespace pacml::actor {
namespace {

// One environment of one graph, one feature (the time) and two actions.
class OneEnvironment {
 public:
  OneEnvironment(std::size_t steps, const NstepConfig& config)
      : writer_(spec(), 1, steps, config) {}

  // In state `time`, whose best action is worth `best`, takes action 1, worth `value`.
  void act(float time, float best, float value, env::StepResult result, float last_time = 0,
           float last_best = 0) {
    const std::vector<float> bests = {best};
    const std::vector<float> last_bests = {last_best};
    const std::vector<int> actions = {1};
    const std::vector<float> values = {value};
    VectorEnv::Outcome outcome;
    outcome.results = {result};
    if (result.final()) outcome.finished.push_back({0, {.episode_return = 7, .decisions = 2}});
    if (result.truncated && !result.terminated) {
      outcome.last_states.push_back({0, 0});
      outcome.last_observations = state(last_time);
    }
    writer_.observe(state(time), std::vector{0}, bests);
    writer_.step(actions, values, PolicyVersion{4}, outcome, last_bests);
  }
  NstepWriter& writer() { return writer_; }

 private:
  static env::EnvironmentSpec spec() {
    env::EnvironmentSpec spec;
    spec.task = "rewarding";
    spec.observation = plain_spec(1, 2);
    auto graph = std::make_shared<env::GraphFeatures>();
    graph->hash = GraphHash{5};
    spec.graphs = {graph};
    return spec;
  }
  static Observations state(float time) {
    Observations batch = spec().make_observations();
    append_plain(batch, 0, std::vector{time}, std::vector<std::uint8_t>{0, 1});
    return batch;
  }

  NstepWriter writer_;
};

float next_time(const Transitions& transitions, std::size_t i) {
  return transitions.observations.globals(Transitions::next_state(i))[0];
}

constexpr NstepConfig kTwoSteps{.n_step = 2, .discount = 0.5};

TEST_CASE("a window of n rewards waits for the value of the state behind it", "[unit][actor]") {
  OneEnvironment e(2, kTwoSteps);
  e.act(0, 0, 10, {.reward = 1});
  e.act(1, 0, 20, {.reward = 2});
  REQUIRE(e.writer().full());
  CHECK(e.writer().take().transitions.size() == 0);
  e.act(2, 8, 30, {.reward = 3});
  e.act(3, 9, 40, {.reward = 4});
  const auto message = e.writer().take();
  REQUIRE(message.transitions.size() == 2);
  const auto first = message.transitions.heads[0];
  CHECK(first == TransitionHead{PolicyVersion{4}, 1 + 0.5F * 2, 0.25F, 1, 1.5F});
  CHECK(next_time(message.transitions, 0) == 2);
  CHECK(message.priorities[0] == 10 - (2 + 0.25F * 8));
  CHECK(message.priorities[1] == 20 - (2 + 0.5F * 3 + 0.25F * 9));
  CHECK(message.episodes.empty());
}

TEST_CASE("where an episode terminates nothing is bootstrapped", "[unit][actor]") {
  OneEnvironment e(2, kTwoSteps);
  constexpr float kPoison = std::numeric_limits<float>::infinity();
  const bool truncated = GENERATE(false, true);  // terminated wins
  e.act(0, 0, 10, {.reward = 1});
  e.act(1, 0, 20, {.reward = 2, .terminated = true, .truncated = truncated}, 99, kPoison);
  const auto message = e.writer().take();
  REQUIRE(message.transitions.size() == 2);
  CHECK(message.transitions.heads[0] == TransitionHead{PolicyVersion{4}, 2, 0, 1, 1.5F});
  CHECK(message.transitions.heads[1] == TransitionHead{PolicyVersion{4}, 2, 0, 1, 1});
  CHECK(next_time(message.transitions, 0) == 0);  // its own state, with a valid mask
  CHECK(next_time(message.transitions, 1) == 1);
  CHECK(message.priorities == std::vector<float>{8, 18});
  REQUIRE(message.episodes.size() == 1);
  CHECK(message.episodes[0] == EpisodeRecord{7, 2, {}});
}

TEST_CASE("where an episode is cut its last state is worth what the network says",
          "[unit][actor]") {
  OneEnvironment e(3, kTwoSteps);
  e.act(0, 0, 10, {.reward = 1});
  e.act(1, 0, 20, {.reward = 2, .truncated = true}, 2, 8);
  e.act(0, 1000, 30, {.reward = 5});  // of the next episode: not part of the last one's windows
  const auto message = e.writer().take();
  REQUIRE(message.transitions.size() == 2);
  CHECK(message.transitions.heads[0] == TransitionHead{PolicyVersion{4}, 2, 0.25F, 1, 1.5F});
  CHECK(message.transitions.heads[1] == TransitionHead{PolicyVersion{4}, 2, 0.5F, 1, 1});
  CHECK(next_time(message.transitions, 0) == 2);
  CHECK(next_time(message.transitions, 1) == 2);
  CHECK(message.priorities == std::vector<float>{10 - (2 + 0.25F * 8), 20 - (2 + 0.5F * 8)});
}

TEST_CASE("rewards are scaled before they are added", "[unit][actor]") {
  OneEnvironment e(1, {.n_step = 1, .discount = 1, .reward_scale = 100});
  e.act(0, 0, 0, {.reward = 3, .terminated = true});
  CHECK(e.writer().take().transitions.heads[0].n_step_return == 300);
}

TEST_CASE("rewards that add up to what is not finite are told with the task's name",
          "[unit][actor]") {
  OneEnvironment e(2, {.n_step = 2, .discount = 1, .reward_scale = GENERATE(1.0, 1e9)});
  const float most = std::numeric_limits<float>::max();
  e.act(0, 0, 0, {.reward = most});
  CHECK_THROWS_WITH(e.act(1, 0, 0, {.reward = most, .terminated = true}),
                    "the task rewarding gave a reward that is not finite");
}

TEST_CASE("steps that take longer discount more, the rewards behind them, too", "[unit][actor]") {
  OneEnvironment e(3, kTwoSteps);
  e.act(0, 0, 10, {.reward = 1, .elapsed = 2});
  e.act(1, 0, 20, {.reward = 2, .elapsed = 0.5F});
  e.act(2, 8, 30, {.reward = 3, .truncated = true, .elapsed = 1}, 3, 4);
  const auto message = e.writer().take();
  REQUIRE(message.transitions.size() == 3);
  const auto& heads = message.transitions.heads;
  const auto power = [](double elapsed) { return static_cast<float>(std::pow(0.5, elapsed)); };
  CHECK(heads[0] ==
        TransitionHead{PolicyVersion{4}, 1 + 0.25F * 2, power(2.5), 1, 2 + 0.25F * 0.5F});
  CHECK(heads[1] == TransitionHead{PolicyVersion{4}, static_cast<float>(2 + std::sqrt(0.5) * 3),
                                   power(1.5), 1, static_cast<float>(0.5 + std::sqrt(0.5))});
  CHECK(heads[2] == TransitionHead{PolicyVersion{4}, 3, 0.5F, 1, 1});
  CHECK(message.priorities[0] == std::abs(1.5F + power(2.5) * 8 - 10));
}

TEST_CASE("the windows of two agents are their own", "[unit][actor]") {
  testing::TwoAgents played;
  NstepWriter writer(played.spec(), 1, 6, kTwoSteps);
  const auto act = [&](const testing::TwoAgents::Turn& turn) {
    const auto step = played.act(turn);
    writer.observe(step.observations, step.agents, std::vector{8.0F});
    writer.step(step.actions, std::vector{0.0F}, PolicyVersion{4}, step.outcome,
                std::vector{16.0F, 32.0F});
  };
  act({.agent = 0, .reward = 1, .elapsed = 1});                       // 0: 1 + 1, 2
  act({.agent = 1, .reward = 10, .elapsed = 1, .others = {{0, 1}}});  // 1: 10 + 5, 3
  act({.agent = 0, .reward = 4, .elapsed = 1});                       // 0: 4, 2
  act({.agent = 0, .reward = 8, .elapsed = 1, .others = {{1, 5}}});   // 0: 8 + 2, 2
  act({.agent = 1, .reward = 20, .elapsed = 1, .others = {{0, 2}}});  // 1: 20 + 1, 2
  act({.agent = 0, .reward = 16, .elapsed = 1, .others = {{1, 1}}, .truncated = true});
  const auto message = writer.take();
  const auto head = [](float n_step_return, float discount, float time) {
    return TransitionHead{PolicyVersion{4}, n_step_return, discount, 1, time};
  };
  // Agent 0's decisions took 2, 1, 2 and 1, agent 1's 3 and 2. In the order in which they closed.
  CHECK(message.transitions.heads ==
        std::vector{head(2 + 4 / 4.0F, 1 / 8.0F, 2 + 1 / 4.0F),
                    head(4 + 10 / 2.0F, 1 / 8.0F, 1 + 2 / 2.0F),
                    head(10 + 16 / 4.0F, 1 / 8.0F, 2 + 1 / 4.0F), head(16, 1 / 2.0F, 1),
                    head(15 + 21 / 8.0F, 1 / 32.0F, 3 + 2 / 8.0F), head(21, 1 / 4.0F, 2)});
  CHECK(message.priorities ==
        std::vector<float>{3 + 1, 9 + 1, 14 + 2, 16 + 8, 17.625F + 1, 21 + 8});
  std::vector<float> next;
  for (std::size_t i = 0; i < 6; ++i) next.push_back(next_time(message.transitions, i));
  CHECK(next == std::vector<float>{3, 5, 105, 105, 105, 105});
}

TEST_CASE("settings of transitions are checked", "[unit][actor]") {
  CHECK(validate(NstepConfig{}).empty());
  CHECK(validate(NstepConfig{.n_step = 100, .discount = 0}).empty());
  using Sentences = std::vector<std::string>;
  CHECK(validate(NstepConfig{.n_step = 0}) == Sentences{"n_step: must be in 1..100"});
  CHECK(validate(NstepConfig{.n_step = 101, .discount = 1.5, .reward_scale = 0}).size() == 3);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK(validate(NstepConfig{.discount = kNan, .reward_scale = kNan}).size() == 2);
}

}  // namespace
}  // namespace pacml::actor
