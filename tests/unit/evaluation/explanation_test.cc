#include "apps/evaluation/explanation.h"

#include <nlohmann/json.hpp>
#include <string>

#include "apps/evaluation/episode_recording.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

const Seed kSeed{5};

env::TaskPtr tiny_task() { return testing::tiny_config().env.make(); }

Explanation explain_rules(const std::string& policy, const std::string& baseline,
                          std::int64_t number, std::int64_t horizon) {
  const auto task = tiny_task();
  auto one = WatchedPolicy::of_baseline(task, policy);
  auto other = WatchedPolicy::of_baseline(task, baseline);
  return explain(*task, one, other, kSeed, number, horizon);
}

TEST_CASE("what comes of a decision is what happened in the episode, decision for decision",
          "[unit][evaluation]") {
  const auto task = tiny_task();
  auto policy = WatchedPolicy::of_baseline(task, "constant:2");
  const auto recording = nlohmann::json::parse(*record_episode(*task, policy, kSeed));
  const Explanation explanation = explain_rules("constant:2", "constant:4", 3, 8);
  double reward = 0;
  std::int64_t lost = 0;
  for (std::size_t d = 3; d < 11; ++d) {
    reward += recording["decisions"][d]["reward"].get<double>();
    lost += recording["decisions"][d]["outcome"]["kept"] == true ? 0 : 1;
  }
  CHECK(explanation.futures.at(0).decisions == 8);
  CHECK(explanation.futures[0].reward == Approx(reward));
  CHECK(explanation.futures[0].lost == lost);
  CHECK(explanation.view.picture.now == recording["decisions"][3]["now"]);
}

TEST_CASE("a baseline that would do the same has one future beside the policy's",
          "[unit][evaluation]") {
  const Explanation differ = explain_rules("constant:2", "constant:4", 0, 5);
  REQUIRE(differ.futures.size() == 3);
  CHECK(differ.futures[1].first == differ.baseline_text);
  CHECK(differ.futures[1].who == "constant:2");
  CHECK(differ.futures[2].who == "constant:4");
  const Explanation same = explain_rules("constant:2", "constant:2", 0, 5);
  REQUIRE(same.futures.size() == 2);
  CHECK(same.futures[0].reward == same.futures[1].reward);
}

TEST_CASE("a future ends with its episode, and a decision behind it is refused",
          "[unit][evaluation]") {
  const auto task = tiny_task();
  auto policy = WatchedPolicy::of_baseline(task, "constant:2");
  const auto played =
      nlohmann::json::parse(*record_episode(*task, policy, kSeed))["decisions"].size();
  const auto last = static_cast<std::int64_t>(played) - 1;
  CHECK(explain_rules("constant:2", "para_max", last, 25).futures[0].decisions == 1);
  CHECK_THROWS_WITH(explain_rules("constant:2", "para_max", last + 1, 25),
                    "decision " + std::to_string(last + 1) + ": the episode has " +
                        std::to_string(played) + " decisions, counted from 0");
}

TEST_CASE("an explanation reads as text and as JSON", "[unit][evaluation]") {
  const Explanation explanation = explain_rules("constant:2", "constant:4", 2, 5);
  const std::string text = to_text(explanation);
  CHECK_THAT(text, Catch::StartsWith("decision 2 of constant:2\n") && Catch::Contains("model") &&
                       Catch::Contains("alexnet") && Catch::Contains("> degree 2") &&
                       Catch::Contains("refuse the job") &&
                       Catch::Contains("constant:4 would choose: degree 4") &&
                       Catch::Contains("degree 4, then as constant:4 decides"));
  const auto json = to_json(explanation);
  CHECK(json["view"]["chosen"] == 2);
  CHECK(json["baseline"]["text"] == "degree 4");
  CHECK(json["futures"].size() == explanation.futures.size());
}

}  // namespace
}  // namespace pacml::apps
