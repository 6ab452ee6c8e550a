#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "env/tasks/placement_shaping/environment.h"
#include "tests/support/catch.h"
#include "tests/support/profiles.h"

namespace pacml::env {
namespace {

using Candidates = std::span<const PlacementShapingEnv::Candidate>;

// Jobs of one op, which 1 server takes 100 for; the limit is never in the way.
std::shared_ptr<const PlacementShapingTask> task_of(const PlacementShapingConfig& config) {
  return std::make_shared<const PlacementShapingTask>(
      config, std::vector{testing::single_op(1, 1, 1e9, 1e9)});
}

PlacementShapingConfig config_of(std::string degree, std::array<int, 3> topology = {2, 2, 1}) {
  PlacementShapingConfig c;
  c.degree = std::move(degree);
  c.ramp.topology = topology;
  return c;
}

// The first of `jobs` jobs, one a moment, waits.
PlacementShapingEnv waiting(const PlacementShapingConfig& config, int jobs = 4) {
  PlacementShapingEnv environment(task_of(config));
  environment.reset(
      JobStream::from_list(std::vector<RecordedJob>(static_cast<std::size_t>(jobs), {0, 1, 1}), 1));
  return environment;
}

std::vector<std::vector<int>> servers_of(Candidates candidates) {
  std::vector<std::vector<int>> out;
  for (const auto& candidate : candidates) {
    auto& servers = out.emplace_back();
    for (int s = 0; s < 4; ++s) {
      if (candidate.execution && candidate.execution->servers.contains(static_cast<Server>(s))) {
        servers.push_back(s);
      }
    }
  }
  return out;
}

int choice(std::string_view policy, const PlacementShapingEnv& environment) {
  const auto& task = dynamic_cast<const PlacementShapingTask&>(environment.task());
  return task.make_agent(policy)->act(environment);
}

TEST_CASE("candidates are refusing, first fit, and every other free block", "[placement_shaping]") {
  using Servers = std::vector<std::vector<int>>;
  // One piece: any server. Two pieces: RAMP's shapes are two groups or two racks, or a diagonal.
  PlacementShapingEnv one = waiting(config_of("constant:1"));
  CHECK(servers_of(one.candidates()) == Servers{{}, {0}, {1}, {2}, {3}});
  static_cast<void>(one.step(3));  // server 2
  CHECK(servers_of(one.candidates()) == Servers{{}, {0}, {1}, {3}});
  static_cast<void>(one.step(0));  // refused
  CHECK(one.last_outcome().cause == BlockCause::kOpPartition);
  CHECK(servers_of(one.candidates()) == Servers{{}, {0}, {1}, {3}});

  const PlacementShapingEnv two = waiting(config_of("constant:2"));
  const auto servers = servers_of(two.candidates());
  CHECK(servers[0].empty());
  CHECK(servers[1] == std::vector<int>{0, 2});  // what first fit takes
  for (const auto& block : {std::vector{0, 1}, std::vector{1, 3}, std::vector{2, 3}}) {
    CHECK(std::ranges::count(servers, block) <= 1);
  }
  CHECK(servers.size() > 3);
}

TEST_CASE("a full cluster leaves refusal, and first fit that finds no place",
          "[placement_shaping]") {
  PlacementShapingEnv environment = waiting(config_of("max_parallelism", {1, 1, 1}));
  static_cast<void>(environment.step(1));
  CHECK(environment.candidates().size() == 1);  // the mask allows no degree
  CHECK(choice("first_fit", environment) == 0);
  CHECK(choice("best_fit", environment) == 0);
}

TEST_CASE("first fit of a job that no worker's memory holds looks like a refusal",
          "[placement_shaping]") {
  PlacementShapingConfig c = config_of("constant:1");
  c.ramp.worker_memory = 3e9;  // of the forward op's 2e9 and the backward op's 2e9
  const PlacementShapingEnv environment = waiting(c);
  REQUIRE(environment.candidates().size() == 2);
  CHECK(environment.candidates()[1].execution == nullptr);
  const EnvironmentSpec& spec = environment.spec();
  Observations batch = spec.make_observations();
  environment.observe(batch);
  const auto reader = spec.candidate_view->make_reader();
  reader->set_graphs(spec.graphs);
  const std::size_t width = spec.candidate_view->width();
  std::vector<float> rows(2 * width);
  REQUIRE(reader->read(batch, 0, rows.data(), width, nullptr) == 2);
  for (std::size_t i = 0; i < width; ++i) {
    const std::string& name = spec.candidate_view->features()[i].name;
    INFO(name);
    CHECK((name == "placed" || rows[i] == rows[width + i]));
  }
}

TEST_CASE("no more blocks are offered than asked for, evenly among the free ones",
          "[placement_shaping]") {
  PlacementShapingConfig c = config_of("constant:1", {4, 4, 2});
  c.max_blocks = 4;
  const PlacementShapingEnv environment = waiting(c);
  std::vector<int> numbers;
  for (const auto& candidate : environment.candidates()) numbers.push_back(candidate.block);
  // First fit takes block 1, which is therefore not offered once more.
  CHECK(numbers == std::vector<int>{0, 0, 9, 17, 25});
}

TEST_CASE("jointly, every degree brings its blocks along", "[placement_shaping]") {
  PlacementShapingConfig c = config_of("para_max", {2, 2, 1});
  c.joint = true;
  c.max_partitions_per_op = 4;
  const PlacementShapingEnv environment = waiting(c);
  std::vector<int> degrees;
  for (const auto& candidate : environment.candidates()) degrees.push_back(candidate.degree);
  CHECK(std::ranges::is_sorted(degrees));
  for (const int degree : {1, 2, 4}) CHECK(std::ranges::count(degrees, degree) >= 1);
  CHECK(environment.describe(0) == "refuse the job");
  CHECK(environment.describe(1) == "degree 1 by first fit");
  CHECK(environment.describe_kind(1) == "degree 1 by first fit");
  CHECK(environment.describe(2) == "degree 1 on servers 1");
  CHECK(environment.describe_kind(2) == "degree 1 elsewhere");
  CHECK(choice("first_fit:1", environment) == 1);
  CHECK(degrees[static_cast<std::size_t>(choice("last_fit:4", environment))] == 4);
}

// What the rule chooses for each of the next jobs, which are all refused.
std::vector<int> next_degrees(PlacementShapingEnv& environment, int jobs = 12) {
  std::vector<int> degrees;
  for (int i = 0; i < jobs; ++i) {
    static_cast<void>(environment.step(0));
    REQUIRE(environment.candidates().size() > 1);
    degrees.push_back(environment.candidates()[1].degree);
  }
  return degrees;
}

TEST_CASE("in an imagined future degrees are drawn anew", "[placement_shaping]") {
  PlacementShapingEnv environment(task_of(config_of("random", {4, 4, 2})));
  environment.reset(Seed{1});
  const auto imagined = [&](std::uint64_t future) {
    PlacementShapingEnv copy = environment;
    REQUIRE(copy.resample_future(Seed{future}));
    return next_degrees(copy);
  };
  const auto first = imagined(1000);
  const auto second = imagined(2000);
  CHECK(imagined(1000) == first);
  CHECK(first != second);
  const auto truth = next_degrees(environment);
  CHECK(first != truth);
  CHECK(second != truth);
}

TEST_CASE("an episode over a list of jobs has the same degrees each time", "[placement_shaping]") {
  PlacementShapingEnv environment = waiting(config_of("random", {4, 4, 2}), 20);
  const auto first = next_degrees(environment);
  environment.reset(JobStream::from_list(std::vector<RecordedJob>(20, {0, 1, 1}), 1));
  CHECK(next_degrees(environment) == first);
}

TEST_CASE("best fit leaves most blocks free", "[placement_shaping]") {
  // Server 0 of a row of four is taken: 1 and 3 leave one pair of neighbours, 2 leaves none.
  PlacementShapingEnv environment = waiting(config_of("constant:1", {4, 1, 1}));
  static_cast<void>(environment.step(1));
  const auto candidates = environment.candidates();
  const auto& task = dynamic_cast<const PlacementShapingTask&>(environment.task());
  const auto left = [&](int a) {
    ServerSet occupied = environment.cluster().occupied();
    occupied.insert(candidates[static_cast<std::size_t>(a)].execution->servers);
    std::size_t blocks = 0;
    for (const int degree : task.degrees()) {
      for (const ServerSet& block : task.catalog()->blocks(0, degree)) {
        blocks += occupied.overlaps(block) ? 0U : 1U;
      }
    }
    return blocks;
  };
  const int best = choice("best_fit", environment);
  for (int a = 1; a < static_cast<int>(candidates.size()); ++a) CHECK(left(best) >= left(a));
  CHECK(choice("first_fit", environment) == 1);
  CHECK(choice("last_fit", environment) == static_cast<int>(candidates.size()) - 1);
}

TEST_CASE("rules of placement shaping are named, and wrong names are refused",
          "[placement_shaping]") {
  const auto task = task_of(config_of("para_max"));
  for (const Baseline& baseline : task->baselines()) {
    CHECK(baseline.compared);
    CHECK(task->make_agent(baseline.name) != nullptr);
  }
  CHECK_THROWS_WITH(task->make_agent("best_fti"),
                    "there is no policy \"best_fti\"; did you mean 'best_fit'?");
  CHECK_THROWS_WITH(task->make_agent("first_fit:4"),
                    "policy first_fit:4: env.degree chooses the degree; a policy does where "
                    "env.joint is true");
  PlacementShapingConfig joint = config_of("para_max");
  joint.joint = true;
  CHECK_THROWS_WITH(task_of(joint)->make_agent("first_fit"),
                    "policy first_fit: needs a degree, e.g. first_fit:4");
  CHECK_THROWS_AS(task_of(joint)->make_agent("first_fit:x"), UserError);
  CHECK_THROWS_WITH(task_of(joint)->make_agent("first_fit:3"),
                    Catch::StartsWith("policy first_fit:3: would refuse every job, as there is no "
                                      "block of 3 servers; degrees are "));
  CHECK_THROWS_AS(task_of(joint)->make_agent("first_fit:1000"), UserError);
}

TEST_CASE("settings of placement shaping that make no sense are refused with their key",
          "[placement_shaping]") {
  const auto problem = [](auto change) {
    PlacementShapingConfig c;
    change(c);
    const auto problems = validate(c);
    REQUIRE(problems.size() == 1);
    return problems.front();
  };
  CHECK_THAT(problem([](auto& c) { c.degree = "maximum"; }),
             Catch::StartsWith("degree: there is no policy \"maximum\""));
  CHECK_THAT(problem([](auto& c) {
               c.degree = "constant:3";
               c.ramp.topology = {2, 2, 1};
             }),
             Catch::StartsWith("degree: would refuse every job, as there is no block of 3 "));
  CHECK_THAT(problem([](auto& c) { c.max_blocks = 0; }), Catch::StartsWith("max_blocks: "));
  CHECK_THAT(problem([](auto& c) { c.cluster.lookahead_cache = LookaheadCache::kModelDegree; }),
             Catch::StartsWith("cluster.lookahead_cache: "));
  CHECK_THAT(problem([](auto& c) {
               c.ramp.topology = {16, 16, 8};
             }),
             Catch::StartsWith("ramp.topology: "));
  CHECK_THAT(problem([](auto& c) {
               c.ramp.topology = {8, 8, 8};
               c.max_partitions_per_op = 64;
               c.joint = true;
               c.max_blocks = 512;
             }),
             Catch::StartsWith("max_blocks: makes up to "));
}

}  // namespace
}  // namespace pacml::env
