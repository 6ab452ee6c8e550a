#include "actor/sequence_writer.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"
#include "tests/support/scripted_environment.h"
#include "tests/support/two_agents.h"

// Where environments have one agent each, and an example of two worked out by hand;
// tests/property/actor has several agents against a model.

namespace pacml::actor {
namespace {

using env::ScriptedEnvironment;

// What went into the writer, step by step: what must come out of it again.
struct Written {
  std::vector<Observations> observations;
  std::vector<std::vector<int>> actions;
  std::vector<std::vector<float>> log_probs;
  std::vector<VectorEnv::Outcome> outcomes;
  std::vector<PolicyVersion> versions;
  std::vector<EpisodeRecord> episodes;
};

struct Run {
  Written written;
  std::vector<Sequences> messages;
};

// `messages` messages of `steps` steps of `environments` environments, actions and weights at
// random.
Run run(std::size_t environments, std::size_t steps, std::size_t messages, Seed seed,
        std::size_t held_back = 0) {
  VectorEnv envs([] { return std::make_unique<ScriptedEnvironment>(); }, environments, seed);
  SequenceWriter writer(envs.spec(), environments, steps, held_back);
  Rng rng(seed);
  Run out;
  auto& w = out.written;
  std::uint64_t version = 3;
  while (out.messages.size() < messages) {
    writer.observe(envs.observations(), envs.agents());
    w.observations.push_back(envs.observations());
    std::vector<int> actions;
    std::vector<float> log_probs;
    for (std::size_t b = 0; b < environments; ++b) {
      int action = static_cast<int>(rng.below(ScriptedEnvironment::kActions));
      if (envs.observations().mask(b)[static_cast<std::size_t>(action)] == 0) {
        action = (action + 1) % ScriptedEnvironment::kActions;
      }
      actions.push_back(action);
      log_probs.push_back(-static_cast<float>(rng.uniform()));
    }
    const auto& outcome = envs.step(actions);
    version += rng.below(2);
    writer.step(actions, log_probs, PolicyVersion{version}, outcome);
    w.actions.push_back(actions);
    w.log_probs.push_back(log_probs);
    w.outcomes.push_back(outcome);
    w.versions.emplace_back(version);
    for (const auto& [b, s] : outcome.finished) {
      w.episodes.push_back(s);
    }
    if (writer.full()) out.messages.push_back(writer.take(envs.observations(), envs.agents()));
  }
  return out;
}

// Rows of a store, as a store of their own.
Observations rows_of(const Observations& from, std::size_t begin, std::size_t count = 1) {
  Observations rows(from.shape());
  rows.append_rows(from, begin, count);
  return rows;
}

TEST_CASE("every step of one agent is in exactly one message, with what it answered and came to",
          "[unit][actor]") {
  const auto [environments, steps] =
      GENERATE(table<std::size_t, std::size_t>({{1, 1}, {1, 7}, {3, 1}, {4, 5}, {5, 16}}));
  INFO(environments << " environments, " << steps << " steps");
  const auto [written, messages] = run(environments, steps, 6, Seed{9});

  std::vector<EpisodeRecord> episodes;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const Sequences& s = messages[m];
    REQUIRE(validate(s));
    REQUIRE(s.lengths == std::vector(environments, static_cast<std::uint32_t>(steps)));
    REQUIRE(s.elapsed.empty());
    REQUIRE(s.observations.graphs().size() == 2);
    std::vector<PolicyVersion> versions;
    for (const VersionRun& run : s.versions) {
      versions.insert(versions.end(), run.decisions, run.version);
    }
    for (std::size_t b = 0; b < environments; ++b) {
      REQUIRE(static_cast<float>(s.first_step[b]) ==
              s.observations.globals(b * (steps + 1))[1]);  // the environment counts, too
      for (std::size_t t = 0; t < steps; ++t) {
        const std::size_t step = m * steps + t;
        const std::size_t i = b * steps + t;
        const env::StepResult& result = written.outcomes[step].results[b];
        REQUIRE(rows_of(s.observations, b * (steps + 1) + t) ==
                rows_of(written.observations[step], b));
        REQUIRE(versions[i] == written.versions[step]);
        REQUIRE(s.action[i] == written.actions[step][b]);
        REQUIRE(s.behaviour_log_prob[i] == written.log_probs[step][b]);
        REQUIRE(s.reward[i] == result.reward);
        REQUIRE(((s.flags[i] & Sequences::kTerminated) != 0) == result.terminated);
        REQUIRE(((s.flags[i] & Sequences::kTruncated) != 0) == result.truncated);
      }
    }
    episodes.insert(episodes.end(), s.episodes.begin(), s.episodes.end());
  }
  REQUIRE(messages.size() * steps == written.actions.size());
  REQUIRE(episodes == written.episodes);
}

TEST_CASE("the last row of a sequence is the first of the stream's next", "[unit][actor]") {
  const auto [written, messages] = run(3, 4, 5, Seed{10});
  for (std::size_t m = 0; m + 1 < messages.size(); ++m) {
    for (std::size_t b = 0; b < 3; ++b) {
      REQUIRE(rows_of(messages[m].observations, 5 * b + 4) ==
              rows_of(messages[m + 1].observations, 5 * b));
    }
  }
}

TEST_CASE("exactly the steps that were cut keep the state that they ended in", "[unit][actor]") {
  constexpr std::size_t kSteps = 10;
  const auto [written, messages] = run(4, kSteps, 5, Seed{11});
  std::size_t kept = 0;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const Sequences& s = messages[m];
    std::size_t row = s.num_rows();
    for (std::size_t b = 0; b < 4; ++b) {
      for (std::size_t t = 0; t < kSteps; ++t) {
        const auto& outcome = written.outcomes[m * kSteps + t];
        for (std::size_t i = 0; i < outcome.last_states.size(); ++i) {
          if (outcome.last_states[i].row != b) continue;
          REQUIRE(s.flags[b * kSteps + t] == Sequences::kTruncated);
          REQUIRE(rows_of(s.observations, row++) == rows_of(outcome.last_observations, i));
          ++kept;
        }
      }
    }
    REQUIRE(row == s.observations.size());
  }
  REQUIRE(kept > 10);
}

TEST_CASE("whole episodes are held back until they end, and then sent as one sequence each",
          "[unit][actor]") {
  const std::size_t environments = GENERATE(1, 3);
  constexpr std::size_t kSteps = 4;
  const auto [written, messages] = run(environments, kSteps, 40, Seed{12}, 1000);
  std::size_t decisions = 0;
  std::size_t longest = 0;
  for (const Sequences& s : messages) {
    REQUIRE(validate(s));
    std::size_t row = 0;
    std::size_t i = 0;
    for (std::size_t k = 0; k < s.size(); ++k) {
      CHECK(s.first_step[k] == 0);
      longest = std::max<std::size_t>(longest, s.lengths[k]);
      for (std::size_t t = 0; t < s.lengths[k]; ++t, ++i, ++row, ++decisions) {
        CHECK((s.flags[i] != 0) == (t + 1 == s.lengths[k]));
        CHECK(s.observations.globals(row)[1] == static_cast<float>(t));  // the environment counts
        if (environments > 1) continue;
        CHECK(s.action[i] == written.actions[decisions][0]);
        CHECK(s.behaviour_log_prob[i] == written.log_probs[decisions][0]);
        CHECK(s.reward[i] == written.outcomes[decisions].results[0].reward);
        CHECK(rows_of(s.observations, row) == rows_of(written.observations[decisions], 0));
      }
      ++row;
    }
  }
  // But for the episodes that have not ended, everything.
  CHECK(longest > kSteps);
  CHECK(decisions + environments * longest >= written.actions.size() * environments);
}

TEST_CASE("no more is held back than asked for", "[unit][actor]") {
  constexpr std::size_t kHeldBack = 2;
  constexpr std::size_t kSteps = 2;
  const auto [written, messages] = run(1, kSteps, 60, Seed{13}, kHeldBack);
  std::size_t decisions = 0;
  std::size_t rests = 0;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const Sequences& s = messages[m];
    REQUIRE(validate(s));
    for (const std::int16_t action : s.action) {
      CHECK(action == written.actions[decisions++][0]);
    }
    for (const std::uint32_t step : s.first_step) rests += step > 0 ? 1 : 0;
    CHECK(decisions + kHeldBack >= (m + 1) * kSteps);
  }
  CHECK(rests > 0);
}

TEST_CASE("a sequence ends where weights give way to older ones", "[unit][actor]") {
  testing::TwoAgents played;
  SequenceWriter writer(played.spec(), 1, 4);
  for (const std::uint64_t version : {5, 6, 4, 4}) {
    const auto step = played.act({.agent = 0, .reward = 1});
    writer.observe(step.observations, step.agents);
    writer.step(step.actions, step.log_probs, PolicyVersion{version}, step.outcome);
  }
  const Sequences s = writer.take(played.state(0), std::vector{0});
  REQUIRE(validate(s));
  CHECK(s.lengths == std::vector<std::uint32_t>{2, 2});
  CHECK(s.first_step == std::vector<std::uint32_t>{0, 2});
  CHECK(s.versions == std::vector<VersionRun>{
                          {PolicyVersion{5}, 1}, {PolicyVersion{6}, 1}, {PolicyVersion{4}, 2}});
}

TEST_CASE("rewards of a decision that add up to what is not finite are told with the task's name",
          "[unit][actor]") {
  testing::TwoAgents played;
  SequenceWriter writer(played.spec(), 1, 3);
  const float most = std::numeric_limits<float>::max();
  for (const testing::TwoAgents::Turn& turn :
       {testing::TwoAgents::Turn{.agent = 0, .reward = most},
        testing::TwoAgents::Turn{.agent = 1, .others = {{0, most}}},
        testing::TwoAgents::Turn{.agent = 0}}) {
    const auto step = played.act(turn);
    writer.observe(step.observations, step.agents);
    writer.step(step.actions, step.log_probs, PolicyVersion{1}, step.outcome);
  }
  CHECK_THROWS_WITH(writer.take(played.state(0), std::vector{0}),
                    "the task two_agents gave a reward that is not finite");
}

// The first global of each row: the time.
std::vector<float> times_of(const Sequences& s) {
  std::vector<float> times;
  for (std::size_t row = 0; row < s.observations.size(); ++row) {
    times.push_back(s.observations.globals(row)[0]);
  }
  return times;
}

TEST_CASE("what two agents decided comes to what happened until they decided again",
          "[unit][actor]") {
  using Floats = std::vector<float>;
  using Lengths = std::vector<std::uint32_t>;
  testing::TwoAgents played;
  SequenceWriter writer(played.spec(), 1, 4);
  const auto act = [&](const testing::TwoAgents::Turn& turn, std::uint64_t version) {
    const auto step = played.act(turn);
    writer.observe(step.observations, step.agents);
    writer.step(step.actions, step.log_probs, PolicyVersion{version}, step.outcome);
  };
  act({.agent = 0, .reward = 1, .elapsed = 2}, 1);
  act({.agent = 1, .reward = 10, .elapsed = 0.5F, .others = {{0, 0.25F}}}, 1);
  act({.agent = 1, .reward = 20, .elapsed = 1}, 1);
  act({.agent = 0, .reward = 2, .elapsed = 4, .others = {{1, 3}}}, 1);
  REQUIRE(writer.full());
  // Agent 1 is next: agent 0 waits for what its second decision comes to.
  const Sequences first = writer.take(played.state(1), std::vector{1});
  REQUIRE(validate(first));
  CHECK(first.lengths == Lengths{1, 2});
  CHECK(first.first_step == Lengths{0, 0});
  CHECK(first.reward == Floats{1.25F, 10, 23});
  CHECK(first.elapsed == Floats{3.5F, 0.5F, 5});
  CHECK(first.flags == std::vector<std::uint8_t>{0, 0, 0});
  CHECK(times_of(first) == Floats{0, 3, 1, 2, 4});
  CHECK(first.versions == std::vector<VersionRun>{{PolicyVersion{1}, 3}});

  act({.agent = 1, .reward = 30, .elapsed = 1, .others = {{0, -1}}}, 2);
  // The episode is cut, and both of them lose what would have come.
  act({.agent = 0, .reward = 5, .elapsed = 2, .others = {{1, 1}}, .truncated = true}, 2);
  // The next one: agent 1 has not decided yet, what it gets is nobody's.
  act({.agent = 0, .reward = 7, .elapsed = 1, .others = {{1, 100}}}, 2);
  act({.agent = 0, .reward = 8, .elapsed = 1, .terminated = true}, 2);
  const Sequences second = writer.take(played.state(0), std::vector{0});
  REQUIRE(validate(second));
  // Agent 1's decision came to its end, but it has not decided again.
  CHECK(second.lengths == Lengths{4});
  CHECK(second.first_step == Lengths{1});
  CHECK(second.reward == Floats{1, 5, 7, 8});
  CHECK(second.elapsed == Floats{5, 2, 1, 1});
  CHECK(second.flags ==
        std::vector<std::uint8_t>{0, Sequences::kTruncated, 0, Sequences::kTerminated});
  CHECK(times_of(second) == Floats{3, 5, 6, 7, 8, 105});
  CHECK(second.versions == std::vector<VersionRun>{{PolicyVersion{1}, 1}, {PolicyVersion{2}, 3}});
  CHECK(second.episodes.size() == 2);

  for (const int agent : {0, 0, 1, 1}) act({.agent = agent, .reward = 9}, 3);
  const Sequences third = writer.take(played.state(0), std::vector{0});
  REQUIRE(validate(third));
  CHECK(third.lengths == Lengths{2, 2});
  CHECK(third.first_step == Lengths{0, 2});
  CHECK(third.reward == Floats{9, 9, 31, 9});
  CHECK(third.elapsed == Floats{1, 3, 3, 1});
  CHECK(third.flags == std::vector<std::uint8_t>{0, 0, Sequences::kTruncated, 0});
  CHECK(times_of(third) == Floats{8, 9, 12, 4, 10, 11, 105});
}

}  // namespace
}  // namespace pacml::actor
