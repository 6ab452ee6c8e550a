#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "env/tasks/partitioning/baselines.h"
#include "env/tasks/partitioning/environment.h"
#include "tests/support/catch.h"
#include "tests/support/profiles.h"

namespace pacml::env {
namespace {

// One model of 100 in sequence; the job at hand may take `fraction` of it.
PartitioningEnv waiting(double fraction, std::array<int, 3> topology = {4, 4, 2}) {
  PartitioningConfig config;
  config.ramp.topology = topology;
  config.max_partitions_per_op = 16;
  PartitioningEnv env(std::make_shared<const PartitioningTask>(
      config, std::vector{testing::single_op(1, 1, 1e9, 1e9)}));
  env.reset(JobStream::from_list({{0, fraction, 0}, {0, fraction, 1}, {0, fraction, 1}}, 1));
  return env;
}

PartitioningTask small_task() {
  return PartitioningTask({}, std::vector{testing::single_op(1, 1, 1e9, 1e9)});
}

// A cluster of one server that is taken: only refusal is valid.
PartitioningEnv full() {
  PartitioningEnv env = waiting(1, {1, 1, 1});
  static_cast<void>(env.step(1));
  return env;
}

int choice(std::string_view policy, const PartitioningEnv& env) {
  return make_partitioning_agent(small_task(), policy)->act(env);
}

TEST_CASE("every policy refuses when nothing else is valid", "[heuristics]") {
  const PartitioningEnv env = full();
  for (const Baseline& baseline : partitioning_baselines(small_task())) {
    if (!baseline.best_of.empty()) continue;
    const std::string policy = baseline.name == "constant" ? "constant:4" : baseline.name;
    CAPTURE(policy);
    CHECK(choice(policy, env) == 0);
  }
}

TEST_CASE("policies of a fixed degree", "[heuristics]") {
  const PartitioningEnv env = waiting(1);
  CHECK(choice("no_parallelism", env) == 1);
  CHECK(choice("min_parallelism", env) == 2);
  CHECK(choice("max_parallelism", env) == 16);
  CHECK(choice("para_max", env) == 16);
  CHECK(choice("sip_ml", env) == 16);
  CHECK(choice("sip_ml:8", env) == 8);
  CHECK(choice("constant:6", env) == 6);
}

TEST_CASE("min_parallelism takes one server where only one is to be had", "[heuristics]") {
  CHECK(choice("min_parallelism", waiting(1, {1, 1, 1})) == 1);
}

TEST_CASE("sip_ml takes the largest valid degree where its own is too large", "[heuristics]") {
  PartitioningEnv env = waiting(1);
  static_cast<void>(env.step(16));
  static_cast<void>(env.step(8));
  REQUIRE(env.mask()[16] == 0);
  CHECK(choice("sip_ml:16", env) == 8);
  CHECK(choice("para_max", env) == 8);
  CHECK(choice("max_parallelism", env) == 8);
  CHECK(choice("constant:16", env) == 0);
}

TEST_CASE("a degree without a shape is a refusal", "[heuristics]") {
  CHECK(choice("sip_ml:10", waiting(1)) == 0);
  CHECK(choice("constant:0", waiting(1)) == 0);
}

TEST_CASE("acceptable_jct takes the smallest degree that perfect speed-up would make fast enough",
          "[heuristics]") {
  CHECK(choice("acceptable_jct", waiting(1)) == 1);
  CHECK(choice("acceptable_jct", waiting(0.5)) == 2);
  CHECK(choice("acceptable_jct", waiting(0.3)) == 4);
  CHECK(choice("acceptable_jct", waiting(0.2)) == 6);
  CHECK(choice("acceptable_jct", waiting(0.15)) == 8);
  CHECK(choice("para_min", waiting(0.1)) == 16);
  CHECK(choice("para_min", waiting(0.01)) == 16);  // none is enough: the largest
}

TEST_CASE("min_feasible looks at the communication as well", "[heuristics]") {
  CHECK(choice("min_feasible", waiting(1)) == 1);
  CHECK(choice("min_feasible", waiting(0.55)) == 2);
  CHECK(choice("min_feasible", waiting(0.5)) == 4);  // 2 takes a little more than half
  CHECK(choice("min_feasible", waiting(0.01)) == 0);
}

TEST_CASE("min_feasible looks at which servers are free", "[heuristics]") {
  // Servers 0 and 3 of 2 groups x 2 racks are held by jobs of 400; those on 1 and 2 are done.
  PartitioningConfig config;
  config.ramp.topology = {2, 2, 1};
  PartitioningEnv env(std::make_shared<const PartitioningTask>(
      config, std::vector{testing::single_op(1, 1, 1e9, 1e9), testing::single_op(4, 4, 1e9, 1e9)}));
  const auto last_job = [&env](double fraction) {
    env.reset(JobStream::from_list(
        {{1, 1, 0}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}, {0, 1, 200}, {0, fraction, 1}}, 2));
    for (int i = 0; i < 4; ++i) static_cast<void>(env.step(1));
    static_cast<void>(env.step(0));  // so that the mask sees what is free now
    REQUIRE(env.mask()[2] == 1);
    return choice("min_feasible", env);
  };
  CHECK(last_job(1) == 1);
  CHECK(last_job(0.55) == 0);  // degree 2 would do, but servers 1 and 2 form no block
}

TEST_CASE("random draws every valid degree but refusal, and repeats with its seed",
          "[heuristics]") {
  const PartitioningEnv env = waiting(1);
  const auto draw = [&env](Seed seed) {
    const auto policy = make_partitioning_agent(small_task(), "random");
    policy->reset(seed);
    std::vector<int> actions;
    for (int i = 0; i < 600; ++i) actions.push_back(policy->act(env));
    return actions;
  };
  std::map<int, int> counts;
  for (const int a : draw(Seed{4})) ++counts[a];
  REQUIRE(counts.size() == 6);
  for (const auto& [action, count] : counts) {
    CAPTURE(action);
    CHECK(env.mask()[static_cast<std::size_t>(action)] == 1);
    CHECK(action != 0);
    CHECK(count > 60);  // 100 expected, standard deviation 9
    CHECK(count < 140);
  }
  CHECK(draw(Seed{4}) == draw(Seed{4}));
  CHECK(draw(Seed{4}) != draw(Seed{5}));
}

TEST_CASE("names are known with and without an argument", "[heuristics]") {
  const PartitioningTask task = small_task();
  CHECK(is_baseline(task, "constant:4"));
  CHECK(is_baseline(task, "constant"));
  CHECK(is_baseline(task, "random"));
  CHECK_FALSE(is_baseline(task, "runs/best"));
  for (const Baseline& baseline : task.baselines()) {
    CHECK(is_baseline(task, baseline.name));
    CHECK_FALSE(baseline.description.empty());
  }
}

TEST_CASE("the best constant is chosen among the degrees that the cluster has blocks for",
          "[heuristics]") {
  const auto baselines = small_task().baselines();
  const auto best = std::ranges::find(baselines, "best_constant", &Baseline::name);
  REQUIRE(best != baselines.end());
  CHECK(best->best_of == std::vector<std::string>{"constant:1", "constant:2", "constant:4",
                                                  "constant:6", "constant:8", "constant:16"});
}

TEST_CASE("whoever cannot choose is told what the best constant is one of", "[heuristics]") {
  CHECK(make_baseline(small_task(), "constant:4") != nullptr);
  CHECK_THROWS_WITH(make_baseline(small_task(), "best_constant"),
                    Catch::Contains("whichever of constant:1, constant:2, constant:4, constant:6, "
                                    "constant:8, constant:16 does best on tuning episodes") &&
                        Catch::EndsWith("name one of them"));
}

TEST_CASE("names that make no sense are refused with a sentence", "[heuristics]") {
  CHECK_THROWS_WITH(make_partitioning_agent(small_task(), "randon"),
                    "there is no policy \"randon\"; did you mean 'random'?");
  CHECK_THROWS_WITH(make_partitioning_agent(small_task(), "constant"),
                    "policy constant needs a degree, e.g. constant:4");
  CHECK_THROWS_WITH(make_partitioning_agent(small_task(), "constant:"),
                    "policy constant needs a degree, e.g. constant:4");
  CHECK_THROWS_WITH(make_partitioning_agent(small_task(), "constant:-1"),
                    "policy constant:-1: \"-1\" is no whole number >= 0");
  CHECK_THROWS_WITH(make_partitioning_agent(small_task(), "sip_ml:8x"),
                    "policy sip_ml:8x: \"8x\" is no whole number >= 0");
  CHECK_THROWS_WITH(make_partitioning_agent(small_task(), "constant:99999999999"),
                    "policy constant:99999999999: \"99999999999\" is no whole number >= 0");
  CHECK_THROWS_WITH(make_partitioning_agent(small_task(), "constnat:4"),
                    "there is no policy \"constnat:4\"; did you mean 'constant'?");
  CHECK_THROWS_WITH(make_partitioning_agent(small_task(), "constnat:x"),
                    "there is no policy \"constnat:x\"; did you mean 'constant'?");
  CHECK_THROWS_WITH(make_partitioning_agent(small_task(), "constant:3"),
                    "policy constant:3: would refuse every job, as there is no block of 3 servers; "
                    "degrees are 1, 2, 4, 6, 8, 16");
  CHECK_THROWS_WITH(make_partitioning_agent(small_task(), "constant:4000"),
                    Catch::Contains("would refuse every job"));
  CHECK_THROWS_WITH(make_partitioning_agent(small_task(), "random:3"),
                    "policy random takes no argument, found \"random:3\"");
}

}  // namespace
}  // namespace pacml::env
