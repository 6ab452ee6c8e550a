#include "apps/evaluation/decision_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/evaluation/episode_recording.h"
#include "apps/evaluation/evaluation.h"
#include "tests/support/catch.h"
#include "tests/support/scripted_environment.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

env::TaskPtr tiny_task() { return testing::tiny_config().env.make(); }

TEST_CASE("a decision shows the job, the servers, and what would come of each candidate",
          "[unit][evaluation]") {
  const auto task = tiny_task();
  const auto environment = task->make_factory()();
  environment->reset(Seed{3});
  auto policy = WatchedPolicy::of_baseline(task, "constant:2");
  DecisionView view = look_at(*environment, policy.ask(*environment));
  CHECK(view.chosen == 2);
  CHECK_FALSE(view.value);
  CHECK(view.picture.facts.at(1).value == "alexnet");
  CHECK_FALSE(view.picture.facts.at(1).number);
  // Quantities are there for programs as well.
  const auto facts = to_json(view)["facts"];
  CHECK(facts[1] == nlohmann::json::array({"model", "alexnet"}));
  CHECK(facts[3][0] == "time on one server");
  CHECK(std::stod(facts[3][1].get<std::string>()) ==
        Approx(facts[3][2].get<double>()).epsilon(0.01));
  CHECK(facts[4][0] == "must be done in");
  CHECK(facts[4][2].get<double>() > 0);
  CHECK(view.picture.items.empty());
  CHECK_FALSE(view.picture.last);
  REQUIRE(view.candidates.size() >= 2);
  CHECK(view.candidates[0].text == "refuse the job");
  CHECK(view.candidates[0].outcome.value().reason == "blocked: refused");
  CHECK_FALSE(view.candidates[0].outcome->kept);

  // What was foreseen is what happens.
  const auto found = std::ranges::find(view.candidates, 2, &CandidateOutcome::action);
  REQUIRE(found != view.candidates.end());
  const auto chosen = CandidateOutcome(*found);
  CHECK(environment->step(2).reward == chosen.reward);
  view = look_at(*environment, policy.ask(*environment));
  REQUIRE(view.picture.last);
  CHECK(view.picture.last->kept == chosen.outcome.value().kept);
  CHECK(view.picture.last->reason == chosen.outcome->reason);
  if (view.picture.last->kept) {
    REQUIRE(view.picture.items.size() == 1);
    CHECK(view.picture.items[0].label == "alexnet, degree 2");
    CHECK(std::ranges::count(view.picture.grids.at(0).items, 0) == 2);
    CHECK(view.picture.items[0].ends > view.picture.now);
  }
}

TEST_CASE("of many candidates those stay that the policy would rather take", "[unit][evaluation]") {
  const auto task = tiny_task();
  const auto environment = task->make_factory()();
  environment->reset(Seed{3});
  Opinion opinion{4, {0.1, 0.0, 0.3, 0.0, 0.6}, {}, 1.5};
  const DecisionView view = look_at(*environment, opinion, 2);
  REQUIRE(view.candidates.size() == 2);
  CHECK(view.candidates[0].action == 2);
  CHECK(view.candidates[1].action == 4);
  CHECK(view.left_out >= 1);
  const std::string text = to_text(view);
  CHECK_THAT(text, Catch::Contains("> degree 4") && Catch::Contains("0.600") &&
                       Catch::Contains("and " + std::to_string(view.left_out) + " more"));
}

TEST_CASE("a decision as text draws a letter for every item", "[unit][evaluation]") {
  DecisionView view;
  view.picture.now = 10;
  view.picture.items = {{7, "bert, degree 2", 5, 30}};
  view.picture.grids = {
      {"servers", {2, 1, 3}, {"group", "rack", "server"}, {0, -1, 0, -1, -1, -1}}};
  view.candidates = {{0, "refuse", 0.25, {}, -1, {}}};
  const std::string text = to_text(view);
  CHECK_THAT(text, Catch::Contains("servers, a line a group, a word a rack, a letter a server:\n"
                                   "  a.a\n  ...\n"
                                   "  a  7: bert, degree 2, 20 left of 25\n"));
}

TEST_CASE("an environment without a picture shows the numbers that it observes",
          "[unit][evaluation]") {
  env::ScriptedEnvironment environment;
  environment.reset(Seed{12});
  const DecisionView view = look_at(environment, {1, {}, {}, std::nullopt});
  REQUIRE(view.picture.facts.size() == 2);
  CHECK(view.picture.facts[0].value == "12");
  CHECK(view.picture.grids.empty());
  REQUIRE_FALSE(view.candidates.empty());
  CHECK_FALSE(view.candidates[0].outcome);
  const auto json = to_json(view);
  CHECK(json["candidates"][0].contains("reward"));
  CHECK_FALSE(json["candidates"][0].contains("reason"));
  CHECK_FALSE(json.contains("value"));
}

TEST_CASE("a recording is the episode, decision after decision", "[unit][evaluation]") {
  const auto task = tiny_task();
  auto policy = WatchedPolicy::of_baseline(task, "constant:2");
  const Seed seed{5};
  const auto recording = nlohmann::json::parse(*record_episode(*task, policy, seed));
  const auto environment = task->make_factory()();
  const auto agent = task->make_agent("constant:2");
  const auto played = run_episode(*environment, *agent, seed).value();
  CHECK(recording["return"] == played.episode.episode_return);
  CHECK(recording["metrics"]["blocking_rate"] == played.episode.metrics[0]);
  CHECK(recording["decisions"].size() == static_cast<std::size_t>(played.episode.decisions));
  double rewards = 0;
  std::int64_t lost = 0;
  for (const auto& decision : recording["decisions"]) {
    rewards += decision["reward"].get<double>();
    lost += decision["outcome"]["kept"] == true ? 0 : 1;
  }
  CHECK(rewards == Approx(played.episode.episode_return));
  CHECK(lost > 0);
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(record_episode(*task, policy, seed, stop.get_token()));
}

}  // namespace
}  // namespace pacml::apps
