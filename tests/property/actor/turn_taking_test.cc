#include "tests/support/turn_taking.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "actor/nstep_writer.h"
#include "actor/sequence_writer.h"
#include "actor/vector_env.h"
#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"

// Both writers on environments in which several agents decide in turns, against what whoever has
// the whole history before him says of each decision.

namespace pacml::actor {
namespace {

using env::TurnTaking;
using Logs = std::vector<std::vector<env::TurnStep>>;  // [environment]

struct Setting {
  std::size_t environments = 1;
  std::uint32_t agents = 1;
  std::size_t steps = 1;  // of a message
  bool in_turns = false;  // some environments stand still meanwhile
};

float action_value(float name) { return 0.02F * name; }
float best_value(float name, float last) { return 0.03F * name + last; }

// Which environment and which step a row is of.
std::pair<std::size_t, std::size_t> place_of(float name) {
  const auto number = static_cast<std::size_t>(name);
  return {number / 1000, number % 1000};
}

// Steps environments, with actions and versions of its own, until so many messages are full.
class Player {
 public:
  Player(const Setting& setting, Seed seed)
      : setting_(setting),
        logs_(setting.environments),
        environments_([this] { return make(); }, setting.environments, seed),
        rng_(derive(seed, Purpose::kExploration, 1)) {}

  [[nodiscard]] const VectorEnv& environments() const { return environments_; }
  [[nodiscard]] const Logs& logs() const { return logs_; }
  // The next message is of these.
  std::span<const std::size_t> select() {
    if (setting_.in_turns) environments_.select(1 + rng_.below(setting_.environments));
    return environments_.selected();
  }
  // Actions, and the log-probabilities that they are to have.
  void choose() {
    actions.clear();
    log_probs.clear();
    values.clear();
    const Observations& observations = environments_.observations();
    for (std::size_t row = 0; row < environments_.size(); ++row) {
      std::size_t action = rng_.below(TurnTaking::kActions);
      if (observations.mask(row)[action] == 0) action = (action + 1) % TurnTaking::kActions;
      actions.push_back(static_cast<int>(action));
      log_probs.push_back(-observations.globals(row)[0]);
      values.push_back(action_value(observations.globals(row)[0]));
      best_values.resize(environments_.size());
      best_values[row] = best_value(observations.globals(row)[0], 0);
    }
    // Now and then the weights are those before them again.
    version = PolicyVersion{version.get() + rng_.below(3)};
    if (rng_.below(16) == 0) version = PolicyVersion{version.get() / 2};
  }
  const VectorEnv::Outcome& step() {
    const auto& outcome = environments_.step(actions);
    for (const std::size_t environment : environments_.selected()) {
      versions[environment].push_back(version);
    }
    last_best_values.clear();
    for (std::size_t i = 0; i < outcome.last_observations.size(); ++i) {
      const auto globals = outcome.last_observations.globals(i);
      last_best_values.push_back(best_value(globals[0], globals[1]));
    }
    return outcome;
  }

  std::vector<int> actions;
  std::vector<float> log_probs, values, best_values, last_best_values;
  PolicyVersion version{};
  std::map<std::size_t, std::vector<PolicyVersion>> versions;  // of each step

 private:
  std::unique_ptr<env::Environment> make() {
    const std::size_t mark = made_++;
    return std::make_unique<TurnTaking>(setting_.agents, mark, logs_[mark]);
  }

  Setting setting_;
  Logs logs_;
  std::size_t made_ = 0;
  VectorEnv environments_;
  Rng rng_;
};

const std::vector<Setting> kSettings = {
    {1, 1, 1, false}, {3, 1, 7, false}, {4, 1, 5, true}, {1, 2, 1, false}, {1, 2, 6, false},
    {3, 2, 4, true},  {2, 3, 9, false}, {5, 3, 2, true}, {2, 5, 3, false}, {4, 4, 25, true}};

using Stream = std::pair<std::size_t, int>;  // environment, agent

TEST_CASE("wherever histories are cut into sequences, they hold the same decisions",
          "[property][actor]") {
  const auto setting = GENERATE(from_range(kSettings));
  const auto seed = GENERATE(range<std::uint64_t>(0, 5));
  INFO(setting.environments << " environments of " << setting.agents << " agents, " << setting.steps
                            << " steps, seed " << seed);
  Player player(setting, Seed{seed});
  SequenceWriter writer(player.environments().spec(), setting.environments, setting.steps);
  std::vector<Sequences> messages;
  while (messages.size() * setting.steps < 200) {
    writer.begin(player.select());
    while (!writer.full()) {
      player.choose();
      writer.observe(player.environments().observations(), player.environments().agents());
      writer.step(player.actions, player.log_probs, player.version, player.step());
    }
    messages.push_back(
        writer.take(player.environments().observations(), player.environments().agents()));
  }

  std::map<Stream, std::vector<TurnTaking::Decision>> expected;
  for (std::size_t e = 0; e < setting.environments; ++e) {
    for (int agent = 0; agent < static_cast<int>(setting.agents); ++agent) {
      expected[{e, agent}] = TurnTaking::decisions_of(player.logs()[e], agent);
    }
  }
  std::map<Stream, std::size_t> found;
  std::map<Stream, float> behind;  // what followed the last sequence
  for (const Sequences& message : messages) {
    const auto valid = validate(message);
    INFO((valid ? "" : valid.error().detail));
    REQUIRE(valid);
    std::vector<PolicyVersion> versions;
    for (const VersionRun& run : message.versions) {
      versions.insert(versions.end(), run.decisions, run.version);
    }
    std::size_t i = 0;
    std::size_t last_state = message.num_rows();
    for (std::size_t s = 0; s < message.size(); ++s) {
      REQUIRE(message.lengths[s] <= setting.steps);
      const std::size_t row = row_of(message, i);
      const auto environment = place_of(message.observations.globals(row)[0]).first;
      const Stream stream{environment, message.observations.agent(row)};
      const auto& decisions = expected[stream];
      std::size_t& next = found[stream];
      if (next > 0) REQUIRE(message.observations.globals(row)[0] == behind[stream]);
      for (std::uint32_t t = 0; t < message.lengths[s]; ++t, ++i, ++next) {
        REQUIRE(next < decisions.size());
        const TurnTaking::Decision& decision = decisions[next];
        if (t == 0) REQUIRE(message.first_step[s] == decision.step);
        const float name = message.observations.globals(row + t)[0];
        REQUIRE(place_of(name) == std::pair(environment, decision.at));
        REQUIRE(message.action[i] == player.logs()[environment][decision.at].action);
        REQUIRE(message.behaviour_log_prob[i] == -name);
        REQUIRE(message.reward[i] == static_cast<float>(decision.reward));
        REQUIRE((message.elapsed.empty() ? 1.0F : message.elapsed[i]) ==
                static_cast<float>(decision.elapsed));
        REQUIRE(message.flags[i] == decision.flags);
        REQUIRE(versions[i] == player.versions[environment][decision.at]);
        if (decision.flags == Sequences::kTruncated) {
          const auto globals = message.observations.globals(last_state++);
          REQUIRE(place_of(globals[0]) == std::pair(environment, decision.last));
          REQUIRE(globals[1] == static_cast<float>(1 + stream.second));
        }
        const float following = message.observations.globals(row + t + 1)[0];
        if (decision.next) REQUIRE(place_of(following) == std::pair(environment, *decision.next));
        behind[stream] = following;
      }
    }
    REQUIRE(i == message.num_decisions());
  }
  // What has not come is the last decision, which waits.
  for (const auto& [stream, decisions] : expected) {
    REQUIRE(found[stream] <= decisions.size());
    REQUIRE(found[stream] + 1 >= decisions.size());
    if (setting.agents == 1) REQUIRE(found[stream] == decisions.size());
  }
}

TEST_CASE("the transitions of several agents are those of the whole history", "[property][actor]") {
  const auto setting = GENERATE(from_range(kSettings));
  const auto n = GENERATE(1, 2, 5);
  INFO(setting.environments << " environments of " << setting.agents << " agents, " << setting.steps
                            << " steps, n = " << n);
  const NstepConfig config{.n_step = n, .discount = 0.9, .reward_scale = 0.5};
  Player player(setting, Seed{7});
  NstepWriter writer(player.environments().spec(), setting.environments, setting.steps, config);
  std::vector<PrioritizedTransitions> messages;
  while (messages.size() * setting.steps < 200) {
    writer.begin(player.select());
    while (!writer.full()) {
      player.choose();
      writer.observe(player.environments().observations(), player.environments().agents(),
                     player.best_values);
      const auto& outcome = player.step();
      writer.step(player.actions, player.values, player.version, outcome, player.last_best_values);
    }
    messages.push_back(writer.take());
  }

  std::map<Stream, std::size_t> found;
  for (const auto& [transitions, priorities, episodes] : messages) {
    REQUIRE(validate(transitions));
    for (std::size_t i = 0; i < transitions.size(); ++i) {
      const auto& rows = transitions.observations;
      const float name = rows.globals(Transitions::state(i))[0];
      const auto [environment, at] = place_of(name);
      const int agent = rows.agent(Transitions::state(i));
      const auto decisions = TurnTaking::decisions_of(player.logs()[environment], agent);
      const std::size_t first = found[{environment, agent}]++;
      REQUIRE(first < decisions.size());
      REQUIRE(decisions[first].at == at);
      double sum = 0;
      double time = 0;
      double elapsed = 0;
      std::size_t last = first;  // of the window
      for (;; ++last) {
        const TurnTaking::Decision& decision = decisions[last];
        sum += std::pow(config.discount, elapsed) * config.reward_scale * decision.reward;
        time += std::pow(config.discount, elapsed) * decision.elapsed;
        elapsed += decision.elapsed;
        if (decision.flags != 0 || last + 1 == first + static_cast<std::size_t>(n)) break;
        REQUIRE(last + 1 < decisions.size());
      }
      const TurnTaking::Decision& end = decisions[last];
      const bool terminated = (end.flags & Sequences::kTerminated) != 0;
      const double discount = terminated ? 0 : std::pow(config.discount, elapsed);
      const TransitionHead& head = transitions.heads[i];
      REQUIRE(head.discounted_time == Approx(time));
      REQUIRE(head.policy_version == player.versions[environment][at]);
      REQUIRE(head.action == player.logs()[environment][at].action);
      REQUIRE(head.n_step_return == Approx(sum).margin(1e-5));
      REQUIRE(head.discount == Approx(discount));
      const auto next = rows.globals(Transitions::next_state(i));
      REQUIRE(rows.agent(Transitions::next_state(i)) == agent);
      if (terminated) {
        REQUIRE(next[0] == name);
      } else if (end.flags != 0) {
        REQUIRE(place_of(next[0]) == std::pair(environment, end.last));
        REQUIRE(next[1] == static_cast<float>(1 + agent));
      } else if (end.next) {
        REQUIRE(place_of(next[0]) == std::pair(environment, *end.next));
      }
      const double bootstrap = terminated ? 0 : double{best_value(next[0], next[1])};
      REQUIRE(
          priorities[i] ==
          Approx(std::abs(sum + discount * bootstrap - double{action_value(name)})).margin(1e-3));
    }
  }
  // What has not come are at most the last n, whose windows are open.
  for (std::size_t e = 0; e < setting.environments; ++e) {
    for (int agent = 0; agent < static_cast<int>(setting.agents); ++agent) {
      const auto decisions = TurnTaking::decisions_of(player.logs()[e], agent);
      const std::size_t sent = found[{e, agent}];
      REQUIRE(sent <= decisions.size());
      REQUIRE(sent + static_cast<std::size_t>(n) >= decisions.size());
    }
  }
}

}  // namespace
}  // namespace pacml::actor
