#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "env/placement/device_presets.h"
#include "env/placement/list_schedule.h"
#include "env/placement/min_cut.h"
#include "env/placement/placement_search.h"
#include "env/placement/placeto_mdp.h"
#include "env/placement/placing_rest.h"
#include "env/tasks/device_placement/environment.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml::env {
namespace {

using Config = DevicePlacementConfig;

std::shared_ptr<const DevicePlacementTask> task_of(const Config& config) {
  return std::make_shared<const DevicePlacementTask>(config);
}

Config one_graph(std::string family = "branch") {
  Config c;
  c.families = {std::move(family)};
  c.first_graph = 1000;
  c.num_graphs = 1;
  c.devices = {"placeto:2"};
  return c;
}

DevicePlacementEnv environment_of(const std::shared_ptr<const DevicePlacementTask>& task) {
  return {task, std::make_shared<PlacementEvaluators>()};
}

struct Played {
  std::vector<double> runtimes;  // R_0 .. R_T
  std::vector<double> rewards;
  std::vector<std::size_t> groups;
  EpisodeRecord summary;
};

template <class Choose>
Played play(DevicePlacementEnv& env, Seed seed, Choose choose) {
  Played played;
  env.reset(seed);
  played.runtimes.push_back(env.runtime_s());
  for (bool is_over = false; !is_over;) {
    played.groups.push_back(env.group());
    const StepResult result = env.step(choose(env));
    played.runtimes.push_back(env.runtime_s());
    played.rewards.push_back(static_cast<double>(result.reward));
    is_over = result.final();
  }
  played.summary = env.summary();
  return played;
}

Played play(const Config& config, const std::string& policy, Seed seed = Seed{1}) {
  const auto task = task_of(config);
  DevicePlacementEnv env = environment_of(task);
  const auto agent = task->make_agent(policy);
  agent->reset(seed);
  return play(env, seed, [&](const DevicePlacementEnv& e) { return agent->act(e); });
}

TEST_CASE("rewards are what the runtime gained, in units of one device", "[device_placement]") {
  Config config = one_graph();
  const Played improved = play(config, "random");
  const double single = improved.runtimes.front();  // it starts there
  const auto& r = improved.runtimes;
  for (std::size_t i = 0; i < improved.rewards.size(); ++i) {
    CHECK(improved.rewards[i] == Approx((r[i] - r[i + 1]) / single).margin(1e-6));
  }
  config.reward = PlacementReward::kBestSoFar;
  const Played best = play(config, "random");
  CHECK(best.runtimes == r);
  double sum = 0;
  for (const double reward : best.rewards) {
    CHECK(reward >= 0);
    sum += reward;
  }
  CHECK(sum == Approx((single - *std::ranges::min_element(r)) / single).margin(1e-6));
  config.reward = PlacementReward::kTerminal;
  const Played last = play(config, "random");
  CHECK(last.rewards.back() == Approx(-r.back() / single));
  CHECK(std::ranges::count(last.rewards, 0) == static_cast<std::ptrdiff_t>(r.size()) - 2);

  CHECK(improved.summary.metrics[0] == Approx(r.back() / single));
  CHECK(improved.summary.metrics[1] == Approx(*std::ranges::min_element(r) / single));
  CHECK(improved.summary.metrics[2] == r.back());
}

TEST_CASE("baselines end where their placements are", "[device_placement]") {
  const Config config = one_graph("cell");
  const auto task = task_of(config);
  PlacementEvaluator evaluator(task->problems()[0].problem);
  const auto& problem = evaluator.problem();
  const auto runtime = [&](const GroupPlacement& placement) {
    return evaluator.runtime_s(placement);
  };
  CHECK(play(config, "single").runtimes.back() == runtime(place_on_one(problem, 0)));
  CHECK(play(config, "level").runtimes.back() == runtime(place_by_level(problem)));
  CHECK(play(config, "contiguous").runtimes.back() == runtime(place_contiguously(problem)));
  const double heft = runtime(list_schedule(problem, ListRule::kHeft));
  const double etf = runtime(list_schedule(problem, ListRule::kEtf));
  CHECK(play(config, "heft").runtimes.back() == heft);
  CHECK(play(config, "etf").runtimes.back() == etf);
  CHECK(play(config, "list_best").runtimes.back() == std::min(heft, etf));
  const auto found = descend(evaluator, place_on_one(problem, 0), 1);
  CHECK(play(config, "descent").runtimes.back() == found.runtime_s);
  CHECK(play(config, "anneal:300").runtimes.back() < runtime(place_on_one(problem, 0)));
  CHECK(play(config, "min_cut").runtimes.back() == runtime(place_by_min_cut(problem)));
  CHECK_THROWS_WITH(play(config, "exact"), Catch::Contains("too many placements"));
  CHECK_THROWS_WITH(task->make_agent("haft"), Catch::Contains("did you mean 'heft'?"));
  CHECK_THROWS_WITH(task->make_agent("anneal:0"), Catch::Contains("number of simulations"));
}

TEST_CASE("what a policy's episode came to is improved within a budget", "[device_placement]") {
  const Config config = one_graph("cell");
  const auto task = task_of(config);
  PlacementEvaluator evaluator(task->problems()[0].problem);
  const auto heft = list_schedule(evaluator.problem(), ListRule::kHeft);
  const double start = evaluator.runtime_s(heft);
  for (const std::int64_t budget : {1, 2, 40, 400}) {
    CAPTURE(budget);
    const std::int64_t before = evaluator.num_simulations();
    const FoundPlacement found = improve(evaluator, heft, budget, 5);
    CHECK(evaluator.num_simulations() - before <= budget);
    CHECK(found.runtime_s <= start);
    CHECK(evaluator.runtime_s(found.device_of_group) == found.runtime_s);
    CHECK(found.improvements.front().runtime_s == start);
    CHECK(found.improvements.back().runtime_s == found.runtime_s);
    CHECK(
        std::ranges::is_sorted(found.improvements, {}, &FoundPlacement::Improvement::simulations));
    CHECK(improve(evaluator, heft, budget, 5).device_of_group == found.device_of_group);
  }

  const auto played = [&](std::optional<std::int64_t> simulations) {
    DevicePlacementEnv env = environment_of(task);
    const auto agent = task->refined(task->make_agent("heft"), simulations);
    agent->reset(Seed{5});
    return play(env, Seed{5}, [&](const DevicePlacementEnv& e) { return agent->act(e); })
        .runtimes.back();
  };
  CHECK(played(1) == start);
  CHECK(played(400) == improve(evaluator, heft, 400, 5).runtime_s);
  const auto as_many = static_cast<std::int64_t>(2 * evaluator.problem().num_groups());
  CHECK(played(std::nullopt) == played(as_many));
  CHECK(played(std::nullopt) < start);
}

TEST_CASE("groups are visited in the order that is asked for, as often as is asked for",
          "[device_placement]") {
  Config config = one_graph("grid");
  const auto in_order = play(config, "single").groups;
  CHECK(std::ranges::is_sorted(in_order) == false);
  config.order = VisitOrder::kLifo;
  const auto lifo = play(config, "single").groups;
  CHECK(lifo != in_order);
  config.order = VisitOrder::kRandom;
  config.rounds = 2;
  const auto shuffled = play(config, "single", Seed{1}).groups;
  CHECK(shuffled.size() == 2 * in_order.size());
  CHECK(play(config, "single", Seed{2}).groups != shuffled);
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    CHECK(shuffled[i] == shuffled[i + in_order.size()]);
    CHECK(std::ranges::count(shuffled, in_order[i]) == 2);
  }
}

TEST_CASE("an episode begins where it is told to", "[device_placement]") {
  Config config = one_graph();
  const auto start = [&](Seed seed) {
    const auto task = task_of(config);
    DevicePlacementEnv env = environment_of(task);
    env.reset(seed);
    return env.placement();
  };
  CHECK(std::ranges::count(start(Seed{1}), 0) == 22);
  config.start = StartPlacement::kRandom;
  CHECK(start(Seed{1}) == start(Seed{2}));
  CHECK(std::ranges::count(start(Seed{1}), 0) < 22);
  config.start = StartPlacement::kRandomAlways;
  CHECK(start(Seed{1}) != start(Seed{2}));
  config.start = StartPlacement::kListSchedule;
  const Played listed = play(config, "list_best");
  CHECK(listed.runtimes.front() == listed.runtimes.back());
}

TEST_CASE("a decision shows what would be on each device", "[device_placement]") {
  Config config = one_graph();
  config.devices = {"placeto:3"};
  config.what_if = true;
  const auto task = task_of(config);
  DevicePlacementEnv env = environment_of(task);
  env.reset(Seed{4});
  for (int i = 0; i < 10; ++i) static_cast<void>(env.step(i % 3));
  Observations batch = task->spec().make_observations();
  env.observe(batch);
  REQUIRE(batch.num_candidates(0) == 3);
  CHECK(batch.focus(0, 0) == env.group());
  PlacementEvaluator evaluator(env.problem().problem);
  const std::size_t width = batch.candidates(0).size() / 3;
  const double now = env.runtime_s();
  for (std::size_t d = 0; d < 3; ++d) {
    GroupPlacement moved = env.placement();
    const bool is_current = moved[env.group()] == static_cast<std::int32_t>(d);
    moved[env.group()] = static_cast<std::int32_t>(d);
    const auto row = batch.candidates(0).subspan(d * width, width);
    CHECK(row[0] == (is_current ? 1.0F : 0.0F));
    CHECK(row[width - 2] == Approx((now - evaluator.runtime_s(moved)) / now).margin(1e-6));
    CHECK(row[width - 1] <= 0);
  }
  CHECK(env.summary().metrics[3] > 10 * 2);  // simulations
}

TEST_CASE("a decision shows when each device would be done, had nothing else been placed",
          "[device_placement]") {
  Config config = one_graph();
  config.devices = {"placeto:3"};
  config.rounds = 2;
  const auto task = task_of(config);
  DevicePlacementEnv env = environment_of(task);
  env.reset(Seed{4});
  const PlacementProblem& problem = *env.problem().problem;
  const double even_us = problem.graph->total_cost_us() / 3;
  for (int round = 0; round < 2; ++round) {
    PlacingSchedule placed(problem);
    for (std::size_t i = 0; i < problem.num_groups(); ++i) {
      Observations batch = task->spec().make_observations();
      env.observe(batch);
      const std::size_t width = batch.candidates(0).size() / 3;
      for (std::size_t d = 0; d < 3; ++d) {
        const double finish_us = placed.slot(env.group(), d).finish_us;
        CHECK(batch.candidates(0)[d * width + 15] == Approx(finish_us / even_us));
      }
      const auto device = i % 3;
      placed.place(env.group(), device);
      static_cast<void>(env.step(static_cast<int>(device)));
    }
  }
}

// Each of three devices shows what comes of the rest.
Config one_graph_and_the_rest() {
  Config config = one_graph();
  config.devices = {"placeto:3"};
  config.what_if_rest = true;
  return config;
}

TEST_CASE("a decision shows what the whole would take with the rest placed behind it",
          "[device_placement]") {
  const Config config = one_graph_and_the_rest();
  const auto task = task_of(config);
  CHECK(task->spec().observation.candidates.features.back().name ==
        "gain_with_rest_on_best_device");
  DevicePlacementEnv env = environment_of(task);
  env.reset(Seed{4});
  const PlacementProblem& problem = *env.problem().problem;
  PlacementEvaluator evaluator(env.problem().problem);
  PlacingSchedule placed(problem);
  // In the order in which they are visited.
  std::vector<std::size_t> order;
  for (const auto twin = env.clone(); order.size() < problem.num_groups();) {
    order.push_back(dynamic_cast<const DevicePlacementEnv&>(*twin).group());
    static_cast<void>(twin->step(0));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    Observations batch = task->spec().make_observations();
    env.observe(batch);
    const std::size_t width = batch.candidates(0).size() / 3;
    std::array<double, 3> runtime{};
    for (std::size_t d = 0; d < 3; ++d) {
      GroupPlacement whole = env.placement();
      PlacingSchedule schedule = placed;
      schedule.place(order[i], d);
      whole[order[i]] = static_cast<std::int32_t>(d);
      for (std::size_t later = i + 1; later < order.size(); ++later) {
        const std::array<double, 3> ends = {schedule.slot(order[later], 0).finish_us,
                                            schedule.slot(order[later], 1).finish_us,
                                            schedule.slot(order[later], 2).finish_us};
        const auto first = std::ranges::min_element(ends) - ends.begin();
        schedule.place(order[later], static_cast<std::size_t>(first));
        whole[order[later]] = static_cast<std::int32_t>(first);
      }
      runtime[d] = evaluator.runtime_s(whole);
    }
    const double now = env.runtime_s();
    for (std::size_t d = 0; d < 3; ++d) {
      const auto row = batch.candidates(0).subspan(d * width, width);
      CHECK(row[width - 2] == Approx((now - runtime[d]) / now).margin(1e-6));
      CHECK(row[width - 1] == Approx((std::ranges::min(runtime) - runtime[d]) / now).margin(1e-6));
    }
    placed.place(order[i], i % 3);
    static_cast<void>(env.step(static_cast<int>(i % 3)));
  }
  CHECK(env.summary().metrics[3] >= 3.0 * static_cast<double>(order.size()));  // simulations
}

TEST_CASE("the pilot method follows what the whole would take with the rest placed behind it",
          "[device_placement]") {
  const Config config = one_graph_and_the_rest();
  const auto task = task_of(config);
  DevicePlacementEnv env = environment_of(task);
  env.reset(Seed{4});
  PlacementEvaluator evaluator(env.problem().problem);
  const GroupPlacement piloted = place_by_pilot(evaluator);
  CHECK(evaluator.num_simulations() == 3 * static_cast<std::int64_t>(piloted.size()));
  for (bool final = false; !final;) {
    Observations batch = task->spec().make_observations();
    env.observe(batch);
    const std::size_t width = batch.candidates(0).size() / 3;
    int first_best = 0;
    while (batch.candidates(0)[static_cast<std::size_t>(first_best + 1) * width - 1] != 0) {
      ++first_best;
    }
    REQUIRE(first_best == piloted[env.group()]);
    final = env.step(first_best).final();
  }
  CHECK(env.runtime_s() == evaluator.runtime_s(piloted));
  CHECK(play(config, "pilot").runtimes.back() == env.runtime_s());
}

TEST_CASE("memory over the limit is counted, and is a feature", "[device_placement]") {
  Config config = one_graph();
  config.penalty = {.s_per_gb = 2, .limit_gb = 0.001};
  const auto task = task_of(config);
  DevicePlacementEnv env = environment_of(task);
  env.reset(Seed{1});
  CHECK(env.summary().metrics[4] > 0);
  Observations batch = task->spec().make_observations();
  env.observe(batch);
  CHECK(batch.candidates(0)[3] < 0);  // memory_left
}

TEST_CASE("settings that cannot be are said in a sentence", "[device_placement]") {
  const auto problem = [](auto change) {
    Config config;
    change(config);
    const auto problems = validate(config);
    return problems.empty() ? std::string() : problems.front();
  };
  CHECK(problem([](Config&) {}).empty());
  CHECK(problem([](Config& c) { c.families = {"tree"}; }) == "families: there is no \"tree\"");
  CHECK_THAT(problem([](Config& c) { c.families.clear(); }), Catch::Contains("graphs or profiles"));
  CHECK_THAT(problem([](Config& c) { c.num_graphs = 0; }), Catch::Contains("num_graphs"));
  CHECK_THAT(problem([](Config& c) { c.rounds = 0; }), Catch::Contains("rounds"));
  CHECK_THAT(problem([](Config& c) { c.devices = {"placeto:0"}; }),
             Catch::Contains("a number of devices in 1..256"));
  CHECK_THAT(problem([](Config& c) { c.devices = {"/nowhere"}; }),
             Catch::Contains("there is no file") && Catch::Contains("a100x4"));
  CHECK_THAT(problem([](Config& c) { c.models = {"vgg"}; }), Catch::Contains("profiles"));
}

TEST_CASE("a device without any memory is none", "[device_placement]") {
  const auto problem_of = [](double limit_gb) {
    const auto problems = validate(MemoryPenalty{.s_per_gb = 2, .limit_gb = limit_gb});
    return problems.empty() ? std::string() : problems.front();
  };
  CHECK(problem_of(0.001).empty());
  CHECK(problem_of(0) == "limit_gb: must be above 0");
  CHECK(problem_of(std::nan("")) == "limit_gb: must be above 0");
}

TEST_CASE("what is of the other semantics is refused", "[device_placement]") {
  const testing::TempDir folder;
  const std::string file = (folder / "devices.yaml").string();
  const auto refusal = [&](const std::string& text) {
    std::ofstream(file) << text << "\n";
    try {
      static_cast<void>(devices_config(file));
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string placeto = "semantics: placeto\ncount: 2\n";
  const std::string corrected = "devices: [{name: a}]\n";
  CHECK(refusal(placeto + "limit_gb: 3\nconstants: {delta1_us: 0}").empty());
  CHECK(refusal(corrected + "bytes_per_parameter_byte: 2\nlocal: {gb_per_s: 1}").empty());
  CHECK_THAT(refusal(placeto + "bytes_per_parameter_byte: 2"),
             Catch::Contains("bytes_per_parameter_byte: is for corrected"));
  CHECK_THAT(refusal(placeto + "local: {gb_per_s: 1}"), Catch::Contains("local: is for corrected"));
  CHECK_THAT(refusal(placeto + "remote: {latency_us: 1}"),
             Catch::Contains("remote: is for corrected"));
  CHECK_THAT(refusal(corrected + "limit_gb: 3"), Catch::Contains("limit_gb: is for placeto"));
  CHECK_THAT(refusal(corrected + "constants: {delta1_us: 0}"),
             Catch::Contains("constants: is for placeto"));
}

TEST_CASE("devices come out of a file or by name", "[device_placement]") {
  const testing::TempDir folder;
  const std::string file = (folder / "devices.yaml").string();
  std::ofstream(file) << "devices:\n"
                         "  - {name: fast, speed: 2, memory_gb: 16}\n"
                         "  - {name: slow, host: other, memory_gb: 8}\n"
                         "remote: {gb_per_s: 1.25, latency_us: 20, shared: device}\n";
  const DeviceSet devices(devices_config(file));
  CHECK(devices.semantics() == PlacementSemantics::kCorrected);
  CHECK(devices.speed(0) == 2);
  CHECK(devices.memory_bytes(1) == 8e9);
  CHECK(devices.bytes_per_us(0, 1) == 1250);
  CHECK(DeviceSet(devices_config("a100x4")).num_channels() == 12);
  CHECK(DeviceSet(devices_config("a100x8")).num_channels() == 8);
  CHECK(DeviceSet(devices_config("a100x8_two_hosts")).num_channels() == 2 * 12 + 2);
  CHECK(DeviceSet(devices_config("placeto:3")).size() == 3);

  std::ofstream(file) << "devices: [{name: a, speed: 0}]\n";
  CHECK_THROWS_WITH(devices_config(file), Catch::Contains("speed"));
  std::ofstream(file) << "devices: [{name: a}, {name: a}]\n";
  CHECK_THROWS_WITH(devices_config(file), Catch::Contains("two called \"a\""));
  std::ofstream(file) << "devices: [{nome: a}]\n";
  CHECK_THROWS_WITH(devices_config(file), Catch::Contains("nome"));
  std::ofstream(file) << "semantics: placeto\ncount: 1000\n";
  CHECK_THROWS_WITH(devices_config(file), Catch::Contains("count: must be in 1..256"));
}

TEST_CASE("problems are called by their files, wherever those lie", "[device_placement]") {
  const testing::TempDir folder;
  std::filesystem::create_directories(folder / "a");
  std::filesystem::create_directories(folder / "b");
  for (const char* name : {"a/two.yaml", "b/two.yaml"}) {
    std::ofstream(folder / name) << "devices: [{name: x}, {name: y}]\n";
  }
  Config config = one_graph();
  config.devices = {"placeto:2", (folder / "a/two.yaml").string(),
                    (folder / "b/two.yaml").string()};
  CHECK(task_of(config)->spec().graph_names ==
        std::vector<std::string>{"branch 1000 on placeto:2", "branch 1000 on two.yaml",
                                 "branch 1000 on two.yaml (2)"});
}

TEST_CASE("what the published network reads is as published but for the scale of starts",
          "[unit][env]") {
  Config config = one_graph("cell");
  config.devices = {"placeto:3"};
  config.shown = ShownPlacements::kPublished;
  config.rounds = 2;
  const auto task = task_of(config);
  REQUIRE(task->spec().observation == observation_spec(config));
  auto env = environment_of(task);
  env.reset(Seed{1});
  const PlacementProblem& problem = *env.problem().problem;
  const std::size_t groups = problem.num_groups();
  const GraphFeatures& graph = *task->spec().graphs.front();
  std::vector<int> visits(groups, 0);
  PlacementEvaluator evaluator(env.problem().problem);
  for (std::size_t step = 0; step < 2 * groups; ++step) {
    static_cast<void>(evaluator.runtime_s(env.placement()));
    std::vector<double> start(groups);
    const auto group_of = problem.graph->group_of();
    for (std::size_t v = 0; v < group_of.size(); ++v) {
      start[static_cast<std::size_t>(group_of[v])] = evaluator.simulator().start_us()[v];
    }
    const auto rows = placeto_features({.attributes = problem.groups->attributes(),
                                        .start_us = start,
                                        .device = env.placement(),
                                        .visits = visits,
                                        .current = env.group(),
                                        .num_devices = 3,
                                        .signed_scale = false});
    Observations shown = task->spec().make_observations();
    env.observe(shown);
    REQUIRE(shown.focus(0, 0) == env.group());
    REQUIRE(shown.mask(0).size() == 3);
    std::vector<float> seen;
    for (std::size_t g = 0; g < groups; ++g) {
      const auto fixed = std::span(graph.node_features).subspan(2 * g, 2);
      const auto changing = shown.node_features(0, 0).subspan(6 * g, 6);
      seen.insert(seen.end(), fixed.begin(), fixed.end());
      seen.insert(seen.end(), changing.begin(), changing.end());
    }
    REQUIRE(seen == rows);
    REQUIRE(std::ranges::all_of(seen, [](float x) { return std::abs(x) <= 2; }));
    ++visits[env.group()];
    static_cast<void>(env.step(static_cast<int>(step % 3)));
  }
}

TEST_CASE("a group starts for the published network when the operation that leads it does",
          "[unit][env]") {
  const testing::TempDir folder;
  const auto file = folder / "graph.json";
  // The group's first operation runs last.
  std::ofstream(file) << R"({"ops": [
    {"name": "late", "cost_us": 10, "output_bytes": [], "group": "g"},
    {"name": "between", "cost_us": 10, "output_bytes": [1]},
    {"name": "early", "cost_us": 10, "output_bytes": [1], "group": "g"}],
    "edges": [["early", 0, "between"], ["between", 0, "late"]]})";
  Config config = one_graph();
  config.families = {};
  config.graphs = {file.string()};
  config.shown = ShownPlacements::kPublished;
  const auto task = task_of(config);
  auto env = environment_of(task);
  env.reset(Seed{1});
  REQUIRE(env.problem().problem->num_groups() == 2);
  PlacementEvaluator evaluator(env.problem().problem);
  static_cast<void>(evaluator.runtime_s(env.placement()));
  const auto start = evaluator.simulator().start_us();
  REQUIRE(start[0] > start[1]);
  Observations shown = task->spec().make_observations();
  env.observe(shown);
  constexpr std::size_t kStart = 2;  // behind how often, and whether it is the one
  const std::size_t other = 1 - env.group();
  const auto row = shown.node_features(0, 0).subspan(other * 5, 5);
  CHECK(row[kStart] == (other == 0 ? 1.0F : -1.0F));  // the leader's start, of which it is all
}

TEST_CASE("what the published network cannot read is refused", "[unit][env]") {
  Config config = one_graph();
  config.shown = ShownPlacements::kPublished;
  CHECK(validate(config).empty());
  config.devices = {"placeto:2", "a100x4"};
  config.what_if = true;
  config.what_if_rest = true;
  CHECK(validate(config) ==
        std::vector<std::string>{
            "what_if: is a device's to show, and shown: published shows none",
            "what_if_rest: is a device's to show, and shown: published shows none",
            "devices: with shown: published all must have as many devices, which have an output "
            "each; shown: devices takes any"});
}

TEST_CASE("who plans and is not told of another episode plans for its graph", "[unit][env]") {
  Config config = one_graph();
  config.families = {"branch", "cell"};
  config.num_graphs = 3;
  const auto task = task_of(config);
  DevicePlacementEnv env = environment_of(task);
  const auto untold = task->make_agent("heft");
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto told = task->make_agent("heft");
    env.reset(Seed{seed});
    told->reset(Seed{seed});
    for (bool is_over = false; !is_over;) {
      const int action = untold->act(env);
      REQUIRE(action == told->act(env));
      is_over = env.step(action).final();
    }
  }
}

// Of each column, whether it is all zeroes in every decision of an episode.
std::vector<bool> zero_columns(const std::vector<std::vector<float>>& decisions,
                               std::size_t width) {
  std::vector<bool> is_zero(width, true);
  for (const auto& rows : decisions) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] != 0) is_zero[i % width] = false;
    }
  }
  return is_zero;
}

struct Shown {
  std::vector<std::vector<float>> nodes;
  std::vector<std::vector<float>> globals;
  std::vector<std::vector<float>> devices;
};

// What decisions of an episode show that goes round the devices.
Shown shown_by(const Config& config) {
  const auto task = task_of(config);
  DevicePlacementEnv env = environment_of(task);
  env.reset(Seed{6});
  Shown shown;
  const auto devices = static_cast<int>(env.problem().problem->num_devices());
  for (int step = 0;; ++step) {
    Observations row = task->spec().make_observations();
    env.observe(row);
    const auto keep = [](auto values, std::vector<std::vector<float>>& into) {
      into.emplace_back(values.begin(), values.end());
    };
    keep(row.node_features(0, 0), shown.nodes);
    keep(row.globals(0), shown.globals);
    keep(row.candidates(0), shown.devices);
    if (env.step(step % devices).final()) return shown;
  }
}

TEST_CASE("hidden features are zeroes, and nothing else is", "[unit][env]") {
  Config config = one_graph();
  config.devices = {"placeto:3"};
  const Shown all = shown_by(config);
  config.hidden = {"group.start", "global.progress", "device.finish", "device.placed_reach"};
  const Shown some = shown_by(config);
  const auto check = [](const auto& with, const auto& without, std::size_t width,
                        const std::vector<std::size_t>& hidden) {
    const auto zeroes_before = zero_columns(with, width);
    const auto zeroes = zero_columns(without, width);
    for (std::size_t c = 0; c < width; ++c) {
      const bool is_hidden = std::ranges::find(hidden, c) != hidden.end();
      INFO(c);
      if (is_hidden) CHECK_FALSE(zeroes_before[c]);
      CHECK(zeroes[c] == (is_hidden || zeroes_before[c]));
    }
    for (std::size_t step = 0; step < with.size(); ++step) {
      for (std::size_t i = 0; i < with[step].size(); ++i) {
        if (!zeroes[i % width]) REQUIRE(with[step][i] == without[step][i]);
      }
    }
  };
  check(all.nodes, some.nodes, 6, {0});
  check(all.globals, some.globals, placement_globals().size(), {2});
  check(all.devices, some.devices, device_features(false, false).size(), {5, 15});
}

TEST_CASE("the published network's features can be hidden, too", "[unit][env]") {
  Config config = one_graph();
  config.shown = ShownPlacements::kPublished;
  config.devices = {"placeto:3"};
  const std::size_t width = published_dynamic_width(3);
  CHECK(zero_columns(shown_by(config).nodes, width) == std::vector<bool>(width, false));
  config.hidden = {"group.start", "group.device"};
  CHECK(zero_columns(shown_by(config).nodes, width) ==
        std::vector<bool>{false, false, true, true, true, true});
}

TEST_CASE("only what is shown can be hidden", "[unit][env]") {
  Config config = one_graph();
  config.hidden = {"device.gain"};
  const auto problems = validate(config);
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().starts_with(
      "hidden: \"device.gain\" is not shown; there are group.start, group.end, "));
  config.what_if = true;
  CHECK(validate(config).empty());
}

}  // namespace
}  // namespace pacml::env
