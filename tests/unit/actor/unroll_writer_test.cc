#include "actor/unroll_writer.h"

#include <memory>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"
#include "tests/support/scripted_environment.h"

namespace pacml::actor {
namespace {

using env::ScriptedEnvironment;

// What went into the writer, step by step: what must come out of it again.
struct Written {
  std::vector<Observations> observations;
  std::vector<std::vector<int>> actions;
  std::vector<std::vector<float>> log_probs;
  std::vector<std::vector<env::StepResult>> results;
  std::vector<PolicyVersion> versions;
  std::vector<Observations> last_observations;
  std::vector<EpisodeRecord> episodes;
};

struct Run {
  Written written;
  std::vector<Unrolls> messages;
};

// `messages` messages of `steps` steps of `environments` environments, actions and weights at
// random.
Run run(std::size_t environments, std::size_t steps, std::size_t messages, Seed seed) {
  VectorEnv envs([] { return std::make_unique<ScriptedEnvironment>(); }, environments, seed);
  UnrollWriter writer(envs.spec(), environments, steps);
  Rng rng(seed);
  Run out;
  auto& w = out.written;
  std::uint64_t version = 3;
  while (out.messages.size() < messages) {
    writer.observe(envs.observations());
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
    const auto results = envs.step(actions);
    version += rng.below(2);
    writer.step(actions, log_probs, PolicyVersion{version}, results, envs.finished(),
                envs.last_observations());
    w.actions.push_back(actions);
    w.log_probs.push_back(log_probs);
    w.results.emplace_back(results.begin(), results.end());
    w.versions.emplace_back(version);
    w.last_observations.push_back(envs.last_observations());
    for (const auto& [b, s] : envs.finished()) {
      w.episodes.push_back(s);
    }
    if (writer.full()) out.messages.push_back(writer.take(envs.observations()));
  }
  return out;
}

// Row t of a message, as the batch it was written from.
Observations row_of(const Unrolls& u, std::size_t t) {
  Observations batch(u.observations.shape());
  batch.append_rows(u.observations, u.at(t, 0), u.environments);
  return batch;
}

TEST_CASE("every step is in exactly one message, with what it answered and what came of it",
          "[unit][actor]") {
  const auto [environments, steps] =
      GENERATE(table<std::size_t, std::size_t>({{1, 1}, {1, 7}, {3, 1}, {4, 5}, {5, 16}}));
  INFO(environments << " environments, " << steps << " steps");
  const auto [written, messages] = run(environments, steps, 6, Seed{9});

  std::size_t step = 0;
  std::vector<EpisodeRecord> episodes;
  for (const Unrolls& u : messages) {
    REQUIRE(validate(u));
    REQUIRE(u.steps == steps);
    REQUIRE(u.environments == environments);
    REQUIRE(u.observations.graphs().size() == 2);
    for (std::size_t t = 0; t < steps; ++t, ++step) {
      REQUIRE(row_of(u, t) == written.observations[step]);
      REQUIRE(u.policy_version[t] == written.versions[step]);
      for (std::size_t b = 0; b < environments; ++b) {
        const std::size_t i = u.at(t, b);
        const env::StepResult& result = written.results[step][b];
        REQUIRE(u.action[i] == written.actions[step][b]);
        REQUIRE(u.behaviour_log_prob[i] == written.log_probs[step][b]);
        REQUIRE(u.reward[i] == result.reward);
        REQUIRE(((u.flags[i] & Unrolls::kTerminated) != 0) == result.terminated);
        REQUIRE(((u.flags[i] & Unrolls::kTruncated) != 0) == result.truncated);
      }
    }
    episodes.insert(episodes.end(), u.episodes.begin(), u.episodes.end());
  }
  REQUIRE(step == written.actions.size());
  REQUIRE(episodes == written.episodes);
}

TEST_CASE("the last row of a message is the first of the next", "[unit][actor]") {
  const auto [written, messages] = run(3, 4, 5, Seed{10});
  for (std::size_t m = 0; m + 1 < messages.size(); ++m) {
    REQUIRE(row_of(messages[m], 4) == row_of(messages[m + 1], 0));
  }
}

TEST_CASE("exactly the steps that were cut keep the state that they ended in", "[unit][actor]") {
  const auto [written, messages] = run(4, 10, 5, Seed{11});
  std::size_t kept = 0;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const Unrolls& u = messages[m];
    std::size_t row = 0;
    for (std::size_t t = 0; t < u.steps; ++t) {
      const std::size_t step = m * u.steps + t;
      std::size_t ended = 0;  // which row of last_observations
      for (std::size_t b = 0; b < u.environments; ++b) {
        const env::StepResult& result = written.results[step][b];
        if (!result.final()) continue;
        const auto& last = written.last_observations[step];
        if (!result.terminated) {
          REQUIRE(u.cut.at(row) == u.at(t, b));
          Observations kept_row(last.shape());
          kept_row.append_row(u.observations, u.num_rows() + row);
          Observations seen(last.shape());
          seen.append_row(last, ended);
          REQUIRE(kept_row == seen);
          ++row;
        }
        ++ended;
      }
    }
    REQUIRE(u.cut.size() == row);
    kept += row;
  }
  REQUIRE(kept > 10);
}

}  // namespace
}  // namespace pacml::actor
