#include "actor/nstep_writer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"

// The writer against an obvious model that has the whole history before it and looks n steps ahead
// from each decision.

namespace pacml::actor {
namespace {

constexpr std::size_t kGlobals = 2;  // a number that names the observation, and a random one
constexpr std::size_t kActions = 4;
constexpr std::size_t kGraphs = 3;

struct Observed {
  std::uint16_t graph = 0;
  std::vector<float> globals;
  std::vector<std::uint8_t> mask;
  float best_value = 0;
  bool operator==(const Observed&) const = default;
};

struct Step {
  Observed state;
  int action = 0;
  float value = 0;
  PolicyVersion version;
  env::StepResult result;
  Observed last;  // where the episode ended
};

class RandomHistory {
 public:
  explicit RandomHistory(Seed seed) : rng_(seed) {}

  Observed observation() {
    Observed o;
    o.graph = static_cast<std::uint16_t>(rng_.below(kGraphs));
    o.globals = {static_cast<float>(next_name_++), static_cast<float>(rng_.normal())};
    for (std::size_t a = 0; a < kActions; ++a) {
      o.mask.push_back(static_cast<std::uint8_t>(rng_.below(2)));
    }
    o.mask[rng_.below(kActions)] = 1;
    o.best_value = static_cast<float>(rng_.normal());
    return o;
  }
  Step step(PolicyVersion version) {
    Step s;
    s.state = observation();
    while (s.state.mask[static_cast<std::size_t>(s.action)] == 0) ++s.action;
    s.value = static_cast<float>(rng_.normal());
    s.version = version;
    s.result.reward = static_cast<float>(rng_.normal());
    s.result.terminated = rng_.below(6) == 0;
    s.result.truncated = rng_.below(6) == 0;
    if (s.result.final()) s.last = observation();
    return s;
  }

 private:
  Rng rng_;
  int next_name_ = 0;
};

env::EnvironmentSpec sample_spec() {
  env::EnvironmentSpec spec;
  spec.observation = plain_spec(kGlobals, kActions);
  for (std::uint64_t g = 0; g < kGraphs; ++g) {
    auto graph = std::make_shared<env::GraphFeatures>();
    graph->hash = GraphHash{100 + g};
    spec.graphs.push_back(graph);
  }
  return spec;
}

Observations batch_of(const std::vector<Observed>& rows) {
  Observations batch = sample_spec().make_observations();
  for (const Observed& row : rows) append_plain(batch, row.graph, row.globals, row.mask);
  return batch;
}

std::vector<float> values_of(const std::vector<Observed>& rows) {
  std::vector<float> values;
  for (const Observed& row : rows) values.push_back(row.best_value);
  return values;
}

using History = std::vector<std::vector<Step>>;  // [environment][time]

struct Expected {
  double n_step_return = 0;
  double discount = 0;
  std::size_t steps = 0;
  double time = 0;  // discounted
  Observed next;
  double priority = 0;
};

// The transition of decision t of one environment; nullopt: what it needs has not happened yet.
std::optional<Expected> expect(const std::vector<Step>& steps, std::size_t t,
                               const NstepConfig& config) {
  Expected e;
  double bootstrap = 0;
  while (true) {
    if (t + e.steps == steps.size()) return std::nullopt;
    const Step& now = steps[t + e.steps];
    if (e.steps == static_cast<std::size_t>(config.n_step)) {
      e.discount = std::pow(config.discount, static_cast<double>(e.steps));
      e.next = now.state;
      bootstrap = now.state.best_value;
      break;
    }
    e.n_step_return += std::pow(config.discount, static_cast<double>(e.steps)) *
                       config.reward_scale * double{now.result.reward};
    e.time += std::pow(config.discount, static_cast<double>(e.steps));
    ++e.steps;
    if (now.result.terminated) {
      e.next = steps[t].state;
      break;
    }
    if (now.result.truncated) {
      e.discount = std::pow(config.discount, static_cast<double>(e.steps));
      e.next = now.last;
      bootstrap = now.last.best_value;
      break;
    }
  }
  e.priority = std::abs(e.n_step_return + e.discount * bootstrap - double{steps[t].value});
  return e;
}

struct Run {
  History history;
  std::vector<PrioritizedTransitions> messages;
  std::size_t episodes = 0;
};

Run run(std::size_t environments, std::size_t steps, std::size_t messages,
        const NstepConfig& config, Seed seed) {
  RandomHistory random(seed);
  NstepWriter writer(sample_spec(), environments, steps, config);
  Run out;
  out.history.resize(environments);
  for (std::uint64_t t = 0; out.messages.size() < messages; ++t) {
    std::vector<Observed> observed;
    std::vector<Observed> last;
    std::vector<int> actions;
    std::vector<float> values;
    VectorEnv::Outcome outcome;
    for (std::size_t b = 0; b < environments; ++b) {
      const Step& step = out.history[b].emplace_back(random.step(PolicyVersion{t / 4}));
      observed.push_back(step.state);
      actions.push_back(step.action);
      values.push_back(step.value);
      outcome.results.push_back(step.result);
      if (!step.result.final()) continue;
      outcome.finished.push_back({b, {.episode_return = static_cast<double>(++out.episodes)}});
      if (step.result.terminated) continue;
      outcome.last_states.push_back({b, 0});
      last.push_back(step.last);
    }
    outcome.last_observations = batch_of(last);
    writer.observe(batch_of(observed), std::vector(environments, 0), values_of(observed));
    writer.step(actions, values, PolicyVersion{t / 4}, outcome, values_of(last));
    if (writer.full()) out.messages.push_back(writer.take());
  }
  return out;
}

Observed state_of(const Transitions& transitions, std::size_t i, bool next) {
  const std::size_t row = next ? Transitions::next_state(i) : Transitions::state(i);
  const auto globals = transitions.observations.globals(row);
  const auto mask = transitions.observations.mask(row);
  Observed o;
  o.graph = transitions.observations.graph(row);
  o.globals.assign(globals.begin(), globals.end());
  o.mask.assign(mask.begin(), mask.end());
  return o;
}

void require_same(const Observed& actual, const Observed& expected) {
  REQUIRE(actual.graph == expected.graph);
  REQUIRE(actual.globals == expected.globals);
  REQUIRE(actual.mask == expected.mask);
}

TEST_CASE("every decision makes exactly one transition: that of the model", "[property][actor]") {
  const auto [environments, steps, n] = GENERATE(table<std::size_t, std::size_t, std::int64_t>(
      {{1, 1, 1}, {1, 1, 3}, {2, 2, 5}, {3, 7, 1}, {4, 5, 3}, {2, 9, 4}, {5, 16, 7}}));
  const double discount = GENERATE(0.0, 0.9, 1.0);
  INFO(environments << " environments, " << steps << " steps a message, n = " << n << ", discount "
                    << discount);
  const NstepConfig config{.n_step = n, .discount = discount, .reward_scale = 0.5};
  const Run ran = run(environments, steps, 400 / steps, config, Seed{17});

  // Where each decision is, by the number that names its state.
  std::map<float, std::pair<std::size_t, std::size_t>> waiting;
  for (std::size_t b = 0; b < environments; ++b) {
    for (std::size_t t = 0; t < ran.history[b].size(); ++t) {
      waiting[ran.history[b][t].state.globals[0]] = {b, t};
    }
  }
  std::size_t episodes = 0;
  for (const PrioritizedTransitions& message : ran.messages) {
    const Transitions& transitions = message.transitions;
    REQUIRE(validate(transitions));
    REQUIRE(transitions.observations.graphs() ==
            std::vector{GraphHash{100}, GraphHash{101}, GraphHash{102}});
    REQUIRE(message.priorities.size() == transitions.size());
    for (std::size_t i = 0; i < transitions.size(); ++i) {
      const Observed state = state_of(transitions, i, false);
      const auto found = waiting.find(state.globals[0]);
      REQUIRE(found != waiting.end());  // a decision, and not one that has come before
      const auto [b, t] = found->second;
      waiting.erase(found);
      const Step& step = ran.history[b][t];
      const auto expected = expect(ran.history[b], t, config);
      REQUIRE(expected);
      const TransitionHead head = transitions.heads[i];
      require_same(state, step.state);
      require_same(state_of(transitions, i, true), expected->next);
      REQUIRE(head.action == step.action);
      REQUIRE(head.policy_version == step.version);
      REQUIRE(head.discounted_time == static_cast<float>(expected->time));
      REQUIRE(head.discount == static_cast<float>(expected->discount));
      REQUIRE(head.n_step_return == Approx(expected->n_step_return).margin(1e-5));
      REQUIRE(message.priorities[i] == Approx(expected->priority).margin(1e-5));
    }
    for (const EpisodeRecord& record : message.episodes) {
      REQUIRE(record.episode_return == static_cast<double>(++episodes));
    }
  }
  REQUIRE(episodes == ran.episodes);
  // What is left could not be known yet.
  for (const auto& [name, place] : waiting) {
    REQUIRE_FALSE(expect(ran.history[place.first], place.second, config));
  }
}

}  // namespace
}  // namespace pacml::actor
