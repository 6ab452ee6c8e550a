#include "actor/vector_env.h"

#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/heartbeat.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/scripted_environment.h"

namespace pacml::actor {
namespace {

using env::ScriptedEnvironment;

// Which episodes each environment was given, in order.
struct Recorder {
  std::vector<std::vector<Seed>> episodes;

  env::EnvironmentFactory factory() {
    return [this] {
      const std::size_t b = episodes.size();
      episodes.emplace_back();
      return std::make_unique<ScriptedEnvironment>(
          [this, b](Seed seed) { episodes[b].push_back(seed); });
    };
  }
};

// Some valid action of every row.
std::vector<int> actions_for(const VectorEnv& environments) {
  std::vector<int> actions;
  for (std::size_t b = 0; b < environments.size(); ++b) {
    actions.push_back(environments.observations().mask(b)[0] != 0 ? 0 : 1);
  }
  return actions;
}

float name_of_episode(Seed seed) { return static_cast<float>(seed.get() % 4096); }

TEST_CASE("every environment starts its first episode, in a row of its own", "[unit][actor]") {
  Recorder recorder;
  const VectorEnv environments(recorder.factory(), 3, Seed{5});
  REQUIRE(environments.observations().size() == 3);
  for (std::size_t b = 0; b < 3; ++b) {
    REQUIRE(recorder.episodes[b].size() == 1);
    CHECK(environments.observations().globals(b)[0] == name_of_episode(recorder.episodes[b][0]));
    CHECK(environments.observations().globals(b)[1] == 0);
  }
}

TEST_CASE("environments that are slow one by one beat one by one", "[unit][actor]") {
  int beats = 0;
  const Chore count(Duration{0}, [&beats] { ++beats; });
  Recorder recorder;
  VectorEnv environments(recorder.factory(), 3, Seed{5});
  CHECK(beats == 3);
  static_cast<void>(environments.step(actions_for(environments)));
  CHECK(beats == 6);
}

TEST_CASE("a finished environment shows its next episode, and its last observation apart",
          "[unit][actor]") {
  Recorder recorder;
  VectorEnv environments(recorder.factory(), 4, Seed{6});
  std::size_t finished = 0;
  for (int step = 0; step < 40; ++step) {
    const Observations before = environments.observations();
    std::vector<std::size_t> episodes_before;
    for (const auto& episodes : recorder.episodes) episodes_before.push_back(episodes.size());
    const auto& outcome = environments.step(actions_for(environments));
    const auto& results = outcome.results;

    std::vector<std::size_t> ended;
    std::vector<std::size_t> cut;
    for (std::size_t b = 0; b < 4; ++b) {
      const float t = before.globals(b)[1];
      const auto row = environments.observations().globals(b);
      const Seed episode = recorder.episodes[b][episodes_before[b] - 1];
      const bool last = static_cast<std::int64_t>(t) + 1 == ScriptedEnvironment::length_of(episode);
      REQUIRE(results[b].final() == last);
      REQUIRE(recorder.episodes[b].size() == episodes_before[b] + (last ? 1 : 0));
      REQUIRE(row[0] == name_of_episode(recorder.episodes[b].back()));
      REQUIRE(row[1] == (last ? 0 : t + 1));
      if (last) ended.push_back(b);
      if (last && !results[b].terminated) cut.push_back(b);
    }
    REQUIRE(outcome.finished.size() == ended.size());
    for (std::size_t i = 0; i < ended.size(); ++i) {
      const Seed episode = recorder.episodes[ended[i]][episodes_before[ended[i]] - 1];
      REQUIRE(outcome.finished[i].row == ended[i]);
      REQUIRE(outcome.finished[i].summary.decisions == ScriptedEnvironment::length_of(episode));
    }
    REQUIRE(outcome.last_states.size() == cut.size());
    REQUIRE(outcome.last_observations.size() == cut.size());
    for (std::size_t i = 0; i < cut.size(); ++i) {
      const Seed episode = recorder.episodes[cut[i]][episodes_before[cut[i]] - 1];
      REQUIRE(outcome.last_states[i].row == cut[i]);
      REQUIRE(outcome.last_states[i].agent == 0);
      REQUIRE(outcome.last_observations.globals(i)[0] == name_of_episode(episode));
      // The state that a truncated episode would have gone on from is the one after its last
      // action.
      REQUIRE(outcome.last_observations.globals(i)[1] ==
              static_cast<float>(ScriptedEnvironment::length_of(episode)));
    }
    finished += ended.size();
  }
  REQUIRE(finished > 20);
}

TEST_CASE("an episode depends on the stream, the environment and its number alone",
          "[unit][actor]") {
  const auto episodes_of = [](std::size_t size, Seed stream) {
    Recorder recorder;
    VectorEnv environments(recorder.factory(), size, stream);
    for (int step = 0; step < 30; ++step) {
      static_cast<void>(environments.step(actions_for(environments)));
    }
    return recorder.episodes;
  };
  const auto four = episodes_of(4, Seed{1});
  const auto two = episodes_of(2, Seed{1});
  CHECK(two[0] == four[0]);
  CHECK(two[1] == four[1]);

  std::set<Seed> distinct;
  std::size_t count = 0;
  for (const auto& all : {four, episodes_of(4, Seed{2})}) {
    for (const auto& episodes : all) {
      distinct.insert(episodes.begin(), episodes.end());
      count += episodes.size();
    }
  }
  CHECK(distinct.size() == count);
}

TEST_CASE("of many environments so many are stepped as are selected, one after the other",
          "[unit][actor]") {
  Recorder recorder;
  VectorEnv environments(recorder.factory(), 5, Seed{8});
  std::vector<float> steps(5, 0);  // since its episode began, of each
  std::size_t next = 0;
  for (const std::size_t count : {2U, 2U, 3U, 1U, 4U, 5U, 5U, 2U}) {
    environments.select(count);
    REQUIRE(environments.size() == count);
    REQUIRE(environments.total() == 5);
    for (std::size_t row = 0; row < count; ++row) {
      const std::size_t i = (next + row) % 5;
      REQUIRE(environments.selected()[row] == i);
      // It stands where it was left.
      REQUIRE(environments.observations().globals(row)[0] ==
              name_of_episode(recorder.episodes[i].back()));
      REQUIRE(environments.observations().globals(row)[1] == steps[i]);
    }
    const auto& results = environments.step(actions_for(environments)).results;
    REQUIRE(results.size() == count);
    for (std::size_t row = 0; row < count; ++row) {
      float& t = steps[environments.selected()[row]];
      t = results[row].final() ? 0 : t + 1;
    }
    if (count < 5) next = (next + count) % 5;
  }
}

// A task that goes wrong in the step that a test names.
class Unsound final : public env::Environment {
 public:
  enum class What { kFeature, kLastFeature, kReward };
  Unsound(What what, std::int64_t step) : what_(what), step_(step) {}

  [[nodiscard]] const env::EnvironmentSpec& spec() const override { return sound_.spec(); }
  void reset(Seed /*seed*/) override { sound_.reset(Seed{12}); }  // three decisions, then cut
  [[nodiscard]] env::StepResult step(int action) override {
    auto result = sound_.step(action);
    if (what_ == What::kReward && is_time()) result.reward = -kInfinite;
    return result;
  }
  void observe(Observations& out) const override {
    sound_.observe(out);
    if (what_ == What::kFeature && is_time()) out.row(out.size() - 1).globals[1] = kInfinite;
  }
  void observe_last(int agent, Observations& out) const override {
    sound_.observe_last(agent, out);
    if (what_ == What::kLastFeature) out.row(out.size() - 1).globals[0] = kInfinite;
  }
  [[nodiscard]] std::unique_ptr<Environment> clone() const override {
    return std::make_unique<Unsound>(*this);
  }
  [[nodiscard]] bool resample_future(Seed seed) override { return sound_.resample_future(seed); }
  [[nodiscard]] EpisodeRecord summary() const override { return sound_.summary(); }

 private:
  static constexpr float kInfinite = std::numeric_limits<float>::infinity();
  [[nodiscard]] bool is_time() const { return summary().decisions == step_; }
  ScriptedEnvironment sound_;
  What what_;
  std::int64_t step_;
};

TEST_CASE("a feature or a reward that is not finite is told with its name, before anybody reads it",
          "[unit][actor]") {
  const auto sentence = [](Unsound::What what, std::int64_t step) -> std::string {
    try {
      VectorEnv environments([=] { return std::make_unique<Unsound>(what, step); }, 2, Seed{1});
      for (int t = 0; t < 5; ++t) {
        static_cast<void>(environments.step(actions_for(environments)));
        environments.select(1 + static_cast<std::size_t>(t % 2));
      }
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  const std::string global_1 =
      "the task scripted shows a decision whose global global_1 is inf: features must be finite";
  CHECK(sentence(Unsound::What::kFeature, 0) == global_1);
  CHECK(sentence(Unsound::What::kFeature, 2) == global_1);
  CHECK(sentence(Unsound::What::kLastFeature, 0) ==
        "the task scripted shows a decision whose global global_0 is inf: features must be finite");
  CHECK(sentence(Unsound::What::kReward, 2) ==
        "the task scripted gave a reward that is not finite");
  CHECK(sentence(Unsound::What::kReward, 9).empty());
}

}  // namespace
}  // namespace pacml::actor
