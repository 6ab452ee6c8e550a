#include "apps/evaluation/disagreement.h"

#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apps/evaluation/episode_recording.h"
#include "apps/evaluation/explanation.h"
#include "env/tasks/cluster_scheduling/task.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

const std::vector<Seed> kSeeds = {Seed{5}, Seed{6}, Seed{7}};

env::TaskPtr tiny_task() { return testing::tiny_config().env.make(); }

Disagreement compare(const std::string& first, const std::string& second, int threads = 1,
                     std::int64_t horizon = 8) {
  const auto task = tiny_task();
  return find_disagreement(*task, baseline(task, first), baseline(task, second), kSeeds, 10,
                           horizon, threads);
}

TEST_CASE("a policy never differs from itself, also where it draws what it does",
          "[unit][evaluation]") {
  for (const char* name : {"constant:2", "para_max", "random"}) {
    const Disagreement found = compare(name, name);
    CHECK(found.decisions > 30);
    CHECK(found.all.decisions == 0);
    CHECK(found.groups.empty());
    CHECK_THAT(to_text(found), Catch::Contains("differ in 0 of "));
  }
}

TEST_CASE("each group's figures are those of its decisions, one by one", "[unit][evaluation]") {
  const Disagreement found = compare("constant:2", "constant:4");
  // The same, decision by decision, by the other way to follow a choice.
  struct Sum {
    std::int64_t decisions = 0;
    double lost_first = 0, lost_second = 0, reward_first = 0, reward_second = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> expected;
  const auto task = tiny_task();
  std::int64_t decisions = 0;
  for (const Seed seed : kSeeds) {
    auto one = WatchedPolicy::of_baseline(task, "constant:2");
    const auto environment = task->make_factory()();
    environment->reset(seed);
    for (std::int64_t d = 0;; ++d) {
      ++decisions;
      auto other = WatchedPolicy::of_baseline(task, "constant:4");
      auto again = WatchedPolicy::of_baseline(task, "constant:2");
      const Explanation explanation = explain(*task, again, other, seed, d, 8);
      if (explanation.futures.size() == 3) {
        Sum& sum = expected[{explanation.futures[0].first, explanation.futures[1].first}];
        ++sum.decisions;
        sum.lost_first += static_cast<double>(explanation.futures[0].lost);
        sum.lost_second += static_cast<double>(explanation.futures[1].lost);
        sum.reward_first += explanation.futures[0].reward;
        sum.reward_second += explanation.futures[1].reward;
      }
      if (environment->step(one.ask(*environment).action).final()) break;
    }
  }
  CHECK(found.decisions == decisions);
  CHECK(found.losses_are_known);
  REQUIRE(found.groups.size() == expected.size());
  std::int64_t differing = 0;
  for (const DisagreementGroup& group : found.groups) {
    INFO(group.first << " against " << group.second);
    const Sum& sum = expected.at({group.first, group.second});
    const auto count = static_cast<double>(sum.decisions);
    CHECK(group.decisions == sum.decisions);
    CHECK(group.lost_after_first == Approx(sum.lost_first / count));
    CHECK(group.lost_after_second == Approx(sum.lost_second / count));
    CHECK(group.reward_after_first == Approx(sum.reward_first / count));
    CHECK(group.reward_after_second == Approx(sum.reward_second / count));
    CHECK(group.more_lost.mean == Approx((sum.lost_second - sum.lost_first) / count));
    CHECK(group.episode >= 10);
    CHECK(group.episode < 13);
    differing += group.decisions;
  }
  CHECK(found.all.decisions == differing);
}

TEST_CASE("a comparison depends on its seeds, not on the cores", "[unit][evaluation]") {
  CHECK(to_json(compare("constant:2", "para_max", 1)).dump() ==
        to_json(compare("constant:2", "para_max", 3)).dump());
}

TEST_CASE("one episode gives means without intervals, and no verdict", "[unit][evaluation]") {
  const auto task = tiny_task();
  const Disagreement found = find_disagreement(*task, baseline(task, "constant:2"),
                                               baseline(task, "constant:4"), {Seed{5}}, 0, 8, 1);
  REQUIRE(found.all.decisions > 0);
  CHECK(std::isnan(found.all.more_lost.ci95));
  CHECK_THAT(to_text(found), Catch::Contains("cannot be told"));
}

TEST_CASE("a comparison reads as text, the rarest kinds left out, and as JSON",
          "[unit][evaluation]") {
  Disagreement found = compare("constant:2", "random");
  REQUIRE(found.groups.size() >= 2);
  const std::string text = to_text(found, 1);
  CHECK_THAT(text, Catch::StartsWith("constant:2 and random differ in ") &&
                       Catch::Contains("lost after the first's") && Catch::Contains("all") &&
                       Catch::Contains("rarer kinds are not shown"));
  const auto json = to_json(found);
  CHECK(json["groups"].size() == found.groups.size());
  CHECK(json["all"].contains("more_lost"));
  CHECK(json["differing"] == found.all.decisions);
  found.losses_are_known = false;
  CHECK_FALSE(to_json(found)["all"].contains("more_lost"));
  CHECK_THAT(to_text(found), Catch::Contains("reward after the first's"));
}

TEST_CASE("the verdict names whose choices are better where that can be told",
          "[unit][evaluation]") {
  Disagreement found;
  found.first = "a";
  found.second = "b";
  found.episodes = 3;
  found.decisions = 100;
  found.horizon = 25;
  found.losses_are_known = true;
  found.all.decisions = 50;
  found.all.more_lost = {0.5, 0.2};
  CHECK_THAT(to_text(found), Catch::EndsWith("where they differ, a choice of a is better: fewer "
                                             "lost by 0.500 ± 0.200 within 25 decisions\n"));
  found.all.more_lost = {-0.5, 0.2};
  CHECK_THAT(to_text(found), Catch::Contains("a choice of b is better: fewer lost by 0.500"));
  found.all.more_lost = {0.1, 0.2};
  CHECK_THAT(to_text(found), Catch::Contains("cannot be told"));
}

// Several schedulers that decide in turn, in which decisions take unequal times and lose nothing.
env::TaskPtr schedulers() {
  env::ClusterSchedulingConfig config;
  config.jobs.jobs = 30;
  return std::make_shared<const env::ClusterSchedulingTask>(config);
}

TEST_CASE("where no decision is a loss, choices are compared by everybody's reward",
          "[unit][evaluation]") {
  const auto task = schedulers();
  const Disagreement found = find_disagreement(*task, baseline(task, "fifo_first_fit"),
                                               baseline(task, "srtf_best_fit"), kSeeds, 0, 8, 1);
  CHECK_FALSE(found.losses_are_known);
  REQUIRE(found.groups.size() > 2);
  CHECK(found.all.reward_after_first != found.all.reward_after_second);
  CHECK_THAT(to_text(found), Catch::Contains("reward after the first's"));
  // A kind of choices of one episode tells nothing of others.
  bool any = false;
  for (const DisagreementGroup& group : found.groups) {
    if (group.decisions > 1) continue;
    any = true;
    CHECK(std::isnan(group.less_reward.ci95));
  }
  CHECK(any);
}

TEST_CASE("what schedulers decide is recorded with what all of them are paid",
          "[unit][evaluation]") {
  const auto task = schedulers();
  auto policy = WatchedPolicy::of_baseline(task, "srtf_best_fit");
  const auto recording = nlohmann::json::parse(*record_episode(*task, policy, kSeeds[0]));
  double rewards = 0;
  for (const auto& decision : recording["decisions"]) rewards += decision["reward"].get<double>();
  CHECK(rewards == Approx(recording["return"].get<double>()));
}

TEST_CASE("futures that are compared take the same time, however many decisions that is",
          "[unit][evaluation]") {
  const auto task = schedulers();
  auto policy = WatchedPolicy::of_baseline(task, "fifo_first_fit");
  auto rule = WatchedPolicy::of_baseline(task, "random");
  for (std::int64_t decision = 0; decision < 20; ++decision) {
    const Explanation told = explain(*task, policy, rule, kSeeds[1], decision, 5);
    CHECK_FALSE(told.losses_are_known);
    for (const ExplainedFuture& future : told.futures) {
      INFO(decision << ": " << future.first << ", " << future.who);
      if (future.decisions < 16 * told.futures[0].decisions) {
        CHECK((future.is_over || future.elapsed == Approx(told.futures[0].elapsed)));
      }
    }
  }
}

}  // namespace
}  // namespace pacml::apps
