#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/experience/observations.h"
#include "common/result.h"
#include "env/tasks/partitioning/environment.h"
#include "tests/support/catch.h"
#include "tests/support/profiles.h"
#include "tests/support/temp_dir.h"

namespace pacml::env {
namespace {

// Model 0: 2 ops, 2 a training step, hence 100 in sequence. Model 1: 4 ops, 8 a step, 400.
std::vector<Profile> profiles() {
  return {testing::single_op(1, 1, 1e9, 1e9, "single"),
          testing::make_profile({{1, "A", 1, 3, 10e8, 0}, {2, "B", 2, 2, 5e8, 5e8}}, {{1, 2}},
                                "chain")};
}

std::shared_ptr<const PartitioningTask> world(const PartitioningConfig& config = {}) {
  return std::make_shared<const PartitioningTask>(config, profiles());
}

// An environment over an explicit list of jobs.
PartitioningEnv env_of(const PartitioningConfig& config, std::vector<RecordedJob> jobs) {
  PartitioningEnv env(world(config));
  env.reset(JobStream::from_list(std::move(jobs), 2));
  return env;
}

std::vector<int> valid_actions(const PartitioningEnv& env) {
  std::vector<int> valid;
  for (std::size_t a = 0; a < env.mask().size(); ++a) {
    if (env.mask()[a] != 0) valid.push_back(static_cast<int>(a));
  }
  return valid;
}

std::vector<float> floats(const std::vector<double>& values) {
  std::vector<float> out;
  for (const double v : values) out.push_back(static_cast<float>(v));
  return out;
}

std::vector<float> globals(const PartitioningEnv& env) {
  return {env.globals().begin(), env.globals().end()};
}

// Jobs of model 0 and 1 that leave room for everything.
std::vector<RecordedJob> three_jobs() { return {{0, 0.5, 0}, {1, 0.25, 10}, {0, 1.0, 1000}}; }

TEST_CASE("the spec promises what the configuration says", "[partitioning]") {
  const auto w = world();
  const EnvironmentSpec& spec = w->spec();
  CHECK(spec.task == "partitioning");
  CHECK(spec.num_actions() == 17);
  CHECK(spec.num_globals() == 17);
  REQUIRE(spec.observation.slots.size() == 1);
  CHECK(spec.observation.slots[0].node_width == 5);
  CHECK(spec.observation.slots[0].edge_width == 2);
  CHECK(spec.observation.shape() == plain_shape(17, 17));
  CHECK(validate(spec.observation).empty());
  REQUIRE(spec.graphs.size() == 2);
  CHECK(spec.graphs[0]->num_nodes == 2);
  CHECK(spec.graphs[1]->num_nodes == 4);

  PartitioningConfig c;
  c.max_partitions_per_op = 8;
  c.observation = ObservationKind::kCluster;
  CHECK(world(c)->spec().num_actions() == 9);
  const auto task = world(c);
  CHECK(task->spec().num_globals() == 2);
  REQUIRE(task->spec().observation.slots.size() == 2);
  CHECK(task->spec().graph_names.back() == "servers");
  CHECK(task->spec().observation.slots[1].only_graph == "topology 4x4x2");
  CHECK(task->spec().graphs.back()->num_nodes == 32);
}

TEST_CASE("servers are joined where they differ in one coordinate alone", "[partitioning]") {
  const auto graph = make_servers_graph({4, 3, 2});
  REQUIRE(graph->num_nodes == 24);
  REQUIRE(graph->num_edges == 24 * (3 + 2 + 1));
  const Topology topology({4, 3, 2}, 2);
  const auto at = [&](std::int32_t server) {
    const auto [group, rack, place] = topology.coordinates(static_cast<Server>(server));
    return std::array<int, 3>{group, rack, place};
  };
  std::set<std::pair<int, int>> pairs;
  for (std::size_t e = 0; e < graph->edge_src.size(); ++e) {
    const auto from = at(graph->edge_src[e]);
    const auto to = at(graph->edge_dst[e]);
    for (std::size_t d = 0; d < 3; ++d) {
      REQUIRE(graph->edge_features[3 * e + d] == (from[d] != to[d] ? 1.0F : 0.0F));
    }
    REQUIRE((from[0] != to[0]) + (from[1] != to[1]) + (from[2] != to[2]) == 1);
    REQUIRE(pairs.emplace(graph->edge_src[e], graph->edge_dst[e]).second);
  }
  for (int server = 0; server < 24; ++server) {
    const auto features =
        std::span(graph->node_features).subspan(3 * static_cast<std::size_t>(server), 3);
    CHECK(features[0] == Approx(at(server)[0] / 4.0));
    CHECK(features[1] == Approx(at(server)[1] / 3.0));
    CHECK(features[2] == Approx(at(server)[2] / 2.0));
  }
}

TEST_CASE("the mask allows degrees that have a shape and enough free servers", "[partitioning]") {
  PartitioningEnv env = env_of({}, {{1, 1, 0}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
  CHECK(valid_actions(env) == std::vector<int>{0, 1, 2, 4, 6, 8, 16});
  static_cast<void>(env.step(16));
  CHECK(valid_actions(env) == std::vector<int>{0, 1, 2, 4, 6, 8, 16});  // 16 are left
  static_cast<void>(env.step(1));
  CHECK(valid_actions(env) == std::vector<int>{0, 1, 2, 4, 6, 8});  // 15 are left
  static_cast<void>(env.step(8));
  CHECK(valid_actions(env) == std::vector<int>{0, 1, 2, 4, 6});  // 7 are left
}

TEST_CASE("a full cluster leaves only refusal", "[partitioning]") {
  PartitioningConfig c;
  c.ramp.topology = {1, 1, 1};
  PartitioningEnv env = env_of(c, {{0, 1, 0}, {0, 1, 10}});
  CHECK(valid_actions(env) == std::vector<int>{0, 1});
  static_cast<void>(env.step(1));
  CHECK(valid_actions(env) == std::vector<int>{0});
}

TEST_CASE("the published graph features, by hand", "[partitioning]") {
  PartitioningEnv env = env_of({}, three_jobs());
  // Ranges: ops 2..4, dependencies 1..9, sequential times 100..400, limits 50..100, fractions
  // 0.25..1, memory 4e9 throughout, dependency bytes 1e9..6 * 2e9.
  CHECK(globals(env) == floats({0, 0, 0, 0, 1.0 / 3, 0.5, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0}));
  static_cast<void>(env.step(4));
  CHECK(globals(env) == floats({1, 0.25, 1, 1, 0, 0.25, 1, 1.0 / 11, 1, 8.0 / 12, 2.0 / 3, 1, 1,
                                2.0 / 3, 0.5, 4.0 / 32, 1.0 / 32}));
}

TEST_CASE("an observation is a row more of whatever store it is asked for", "[partitioning]") {
  PartitioningEnv env = env_of({}, three_jobs());
  static_cast<void>(env.step(1));
  Observations batch(env.spec().observation.shape(), 1);
  env.observe(batch);
  REQUIRE(batch.size() == 2);
  CHECK(batch.graph(1) == 1);
  CHECK(std::ranges::equal(batch.globals(1), env.globals()));
  CHECK(std::ranges::equal(batch.mask(1), env.mask()));
  for (const float f : batch.globals(0)) CHECK(f == 0);
}

TEST_CASE("after a step that terminates the last decision's observation stays", "[partitioning]") {
  PartitioningEnv env = env_of({}, three_jobs());
  static_cast<void>(env.step(1));
  static_cast<void>(env.step(1));
  const auto before = globals(env);
  const auto mask = valid_actions(env);
  CHECK(env.step(1).final());
  CHECK(globals(env) == before);
  CHECK(valid_actions(env) == mask);
}

TEST_CASE("an exhausted job list terminates, the time limit truncates", "[partitioning]") {
  PartitioningEnv drained = env_of({}, three_jobs());
  static_cast<void>(drained.step(1));
  static_cast<void>(drained.step(0));
  const StepResult last = drained.step(1);
  CHECK(last.terminated);
  CHECK_FALSE(last.truncated);

  PartitioningConfig c;
  c.cluster.max_simulation_time = 50;
  const std::vector<RecordedJob> one_beyond_limit = {{0, 1, 0}, {0, 1, 60}};
  const StepResult cut = env_of(c, one_beyond_limit).step(1);
  CHECK(cut.truncated);
  CHECK_FALSE(cut.terminated);
  // Nobody would have decided anything after the limit.
  const StepResult drained_at_limit = env_of(c, {{0, 1, 0}}).step(1);
  CHECK(drained_at_limit.terminated);
  CHECK_FALSE(drained_at_limit.truncated);
  c.time_limit = TimeLimit::kTerminated;
  const StepResult ended = env_of(c, one_beyond_limit).step(1);
  CHECK(ended.terminated);
  CHECK_FALSE(ended.truncated);
}

TEST_CASE("an endless episode terminates when its last job is refused", "[partitioning]") {
  PartitioningConfig c;
  c.cluster.max_simulation_time = std::numeric_limits<double>::infinity();
  c.workload.sampling = Sampling::kRemove;
  const StepResult last = env_of(c, {{0, 1, 0}}).step(0);
  CHECK(last.terminated);
  CHECK_FALSE(last.truncated);
}

TEST_CASE("a step reports its reward, and the summary the whole episode", "[partitioning]") {
  PartitioningEnv env = env_of({}, three_jobs());
  CHECK(env.step(4).reward == 1);
  CHECK(env.last_outcome().cause == BlockCause::kNone);
  CHECK(env.last_job().index == 0);
  CHECK(env.step(0).reward == -1);
  CHECK(env.last_outcome().cause == BlockCause::kOpPartition);
  CHECK(env.step(1).reward == 1);
  const EpisodeRecord s = env.summary();
  CHECK(s.episode_return == 1);
  CHECK(s.decisions == 3);
  const auto metric = [&](const char* name) { return env.spec().metric(s, name); };
  CHECK(metric("arrived") == 3);
  CHECK(metric("completed") == 2);
  CHECK(metric("blocked") == 1);
  CHECK(metric("blocking_rate") == Approx(1.0 / 3));
  CHECK(metric("blocked_by_op_partition") == Approx(1.0 / 3));
  CHECK(metric("mean_jct_speedup") > 1);
}

TEST_CASE("where masks are not applied a masked action is a refusal", "[partitioning]") {
  PartitioningConfig c;
  c.apply_action_mask = false;
  PartitioningEnv env = env_of(c, three_jobs());
  static_cast<void>(env.step(3));
  CHECK(env.last_outcome().cause == BlockCause::kOpPartition);
}

TEST_CASE("an episode is a pure function of its seed", "[partitioning]") {
  const auto w = world();
  const auto play = [&w](Seed seed) {
    PartitioningEnv env(w);
    std::vector<float> seen;
    env.reset(Seed{77});  // whatever came before
    static_cast<void>(env.step(1));
    env.reset(seed);
    for (int i = 0; i < 50; ++i) {
      seen.insert(seen.end(), env.globals().begin(), env.globals().end());
      static_cast<void>(env.step(valid_actions(env).back()));
    }
    return seen;
  };
  CHECK(play(Seed{1}) == play(Seed{1}));
  CHECK(play(Seed{1}) != play(Seed{2}));
}

TEST_CASE("a clone has the same future until the actions differ", "[partitioning]") {
  PartitioningEnv env(world());
  env.reset(Seed{3});
  for (int i = 0; i < 20; ++i) static_cast<void>(env.step(valid_actions(env).back()));
  const auto clone = env.clone();
  auto& copy = dynamic_cast<PartitioningEnv&>(*clone);
  for (int i = 0; i < 20; ++i) {
    const int action = valid_actions(env)[1];
    REQUIRE(env.step(action).reward == copy.step(action).reward);
    REQUIRE(globals(env) == globals(copy));
    REQUIRE(env.cluster().now() == copy.cluster().now());
  }
  // From here on only the clone goes on.
  const auto before = globals(env);
  const double now = env.cluster().now();
  for (int i = 0; i < 20; ++i) static_cast<void>(copy.step(0));
  CHECK(globals(env) == before);
  CHECK(env.cluster().now() == now);
  CHECK(copy.cluster().counters().blocked > env.cluster().counters().blocked);
}

TEST_CASE("the cluster observation goes without lookaheads that depend on the past",
          "[partitioning]") {
  PartitioningConfig c;
  c.cluster.lookahead_cache = LookaheadCache::kModelDegree;
  CHECK(validate(c).empty());
  c.observation = ObservationKind::kCluster;
  REQUIRE(validate(c).size() == 1);
  CHECK_THAT(validate(c).front(), Catch::StartsWith("observation: cluster shows how long"));
}

TEST_CASE("clusters of several sizes are checked", "[partitioning]") {
  PartitioningConfig c;
  c.observation = ObservationKind::kAnyCluster;
  c.further_topologies = {{4, 4, 4}, {2, 2, 2}};
  CHECK(validate(c).empty());
  const auto problem_with = [&c](std::vector<std::array<int, 3>> further) {
    PartitioningConfig other = c;
    other.further_topologies = std::move(further);
    const auto problems = validate(other);
    return problems.size() == 1 ? problems.front() : std::to_string(problems.size()) + " problems";
  };
  CHECK(problem_with({{4, 4, 4}, {4, 4, 2}}) ==
        "further_topologies[1]: there is a cluster of that topology already");
  CHECK_THAT(problem_with({{0, 4, 4}}), Catch::StartsWith("further_topologies[0]: "));
  CHECK_THAT(problem_with({{100'000, 100'000, 1}}), Catch::StartsWith("further_topologies[0]: "));
  CHECK_THAT(problem_with({{16, 16, 8}}),
             Catch::Contains("further_topologies has 2048"));  // servers
  c.cluster.max_simulation_time = 9e8;  // a job every 1000, and every 500 on 64 servers
  CHECK_THAT(problem_with({{4, 4, 4}}), Catch::Contains("a job every 500"));
  c.cluster.max_simulation_time = 1e5;
  c.ramp.topology = {2, 2, 2};
  CHECK_THAT(problem_with({{16, 8, 8}}),
             Catch::StartsWith("further_topologies[0]: must have 0.01 to 100 times"));
  c.workload.loads = {0.02, 1};
  c.ramp.topology = {4, 4, 2};
  CHECK_THAT(
      problem_with({{2, 2, 2}}),
      Catch::StartsWith("further_topologies[0]: with workload.loads, arrivals must be 0.01"));
  c.workload.loads.clear();
  c.observation = ObservationKind::kCluster;
  CHECK_THAT(problem_with({{4, 4, 4}}), Catch::StartsWith("observation: cluster describes"));
}

TEST_CASE("models that decisions cannot tell apart are refused where they run differently",
          "[partitioning]") {
  Profile slower = profiles()[1];
  slower.model = "slower";
  for (auto& op : slower.ops) {
    op.forward_time *= 4;
    op.backward_time *= 4;
  }
  Profile twin = profiles()[1];
  twin.model = "twin";
  PartitioningConfig c;
  c.observation = ObservationKind::kCluster;
  const auto made = [&c](const Profile& other) {
    return PartitioningTask(c, {profiles()[0], profiles()[1], other});
  };
  REQUIRE(made(twin).spec().graphs[1]->hash == made(twin).spec().graphs[2]->hash);
  CHECK_THROWS_WITH(made(slower), Catch::StartsWith("the models chain and slower differ in scale"));
  c.observation = ObservationKind::kAnyCluster;
  CHECK_THROWS_AS(made(slower), UserError);
  // Where nobody works out how long they would run, they are only hard to learn.
  c.observation = ObservationKind::kPaper;
  CHECK(made(slower).spec().graphs.size() == 3);
}

TEST_CASE("one description serves clusters of any size", "[partitioning]") {
  PartitioningConfig c;
  c.observation = ObservationKind::kAnyCluster;
  const auto small = world(c);
  c.ramp.topology = {8, 8, 8};
  const auto large = world(c);
  const auto names = [](const PartitioningTask& task) {
    std::vector<std::string> out;
    for (const FeatureSpec& f : task.spec().candidate_view->features()) out.push_back(f.name);
    return out;
  };
  CHECK(names(*small).size() == 202);
  CHECK(names(*small) == names(*large));
  CHECK(small->spec().graph_names.back() == "servers 4x4x2");
  CHECK(small->spec().observation.slots[1].only_graph.empty());
  // A job every 1000 is as much for 32 servers as a job every 62.5 for 512.
  CHECK(small->slot_shown(ServersShown::kTogether) == 1000);
  CHECK(large->slot_shown(ServersShown::kTogether) == 16'000);

  c.ramp.topology = {4, 4, 2};
  c.further_topologies = {{8, 8, 8}};
  const auto both = world(c);
  CHECK(names(*both) == names(*small));
  CHECK(both->slot_shown(ServersShown::kTogether) == 1000);
  REQUIRE(both->clusters().size() == 2);
  CHECK(both->clusters()[1].slot == 62.5);
  CHECK(both->spec().graph_names.back() == "servers 8x8x8");
  CHECK(both->spec().graphs[both->clusters()[1].graph]->num_nodes == 512);
  CHECK(both->spec().observation.slots[1].most_nodes == 512);
}

TEST_CASE("physical time reads profiles as milliseconds", "[partitioning]") {
  PartitioningConfig c;
  c.time_unit = TimeUnit::kPhysical;
  PartitioningEnv env = env_of(c, {{0, 1, 0}, {1, 1, 1}});
  CHECK(env.cluster().queued()->sequential_time == Approx(0.1));
  static_cast<void>(env.step(1));
  CHECK(env.last_outcome().mounted->completion_time == Approx(0.1));
  // Communication takes its seconds: degree 2 does not gain what it does when a millisecond counts
  // as a second.
  PartitioningEnv physical = env_of(c, {{0, 1, 0}});
  static_cast<void>(physical.step(2));
  PartitioningEnv paper = env_of({}, {{0, 1, 0}});
  static_cast<void>(paper.step(2));
  const auto overhead = [](const PartitioningEnv& e, double ideal) {
    return e.last_outcome().mounted->completion_time - ideal;
  };
  CHECK(overhead(physical, 0.05) == Approx(overhead(paper, 50)).epsilon(1e-6));
}

TEST_CASE("the corrected semantics run what the published ones cannot", "[partitioning]") {
  // Op 2 feeds nothing and is cut.
  const std::vector<Profile> branchy = {testing::make_profile(
      {{1, "A", 1, 1, 1, 0}, {2, "Aside", 1, 2, 1, 0}, {3, "Loss", 1, 1, 1, 0}}, {{1, 2}, {1, 3}},
      "branchy")};
  const auto start = [&branchy](const PartitioningConfig& c) {
    PartitioningEnv env(std::make_shared<const PartitioningTask>(c, branchy));
    env.reset(JobStream::from_list({{0, 1, 0}}, 1));
    return env;
  };
  PartitioningConfig c;
  PartitioningEnv published = start(c);
  CHECK_THROWS_AS(published.step(2), UserError);
  c.semantics = Semantics::kCorrected;
  PartitioningEnv corrected = start(c);
  CHECK(corrected.step(2).reward == 1);
  c.semantic_overrides = {{"sync_is_no_parent", false}};
  PartitioningEnv overridden = start(c);
  CHECK_THROWS_AS(overridden.step(2), UserError);
}

TEST_CASE("presets set every switch, and overrides one at a time", "[partitioning]") {
  PartitioningConfig c;
  CHECK(switches_of(c) == SemanticSwitches{});
  c.semantics = Semantics::kCorrected;
  SemanticSwitches corrected = switches_of(c);
  int switches = 0;
  visit_fields(corrected, [&](std::string_view, bool& value) {
    CHECK(value);
    ++switches;
  });
  CHECK(switches == 13);
  c.semantic_overrides = {{"exact_tick", false}};
  corrected.exact_tick = false;
  CHECK(switches_of(c) == corrected);
}

TEST_CASE("the corrected mark of the longest op reaches the graphs", "[partitioning]") {
  PartitioningConfig c;
  c.semantic_overrides = {{"mark_max_compute", true}};
  CHECK(world(c)->spec().graphs[1]->node_features[2 * 5 + 1] == 1);
  CHECK(world()->spec().graphs[1]->node_features[2 * 5 + 1] == 0);
}

TEST_CASE("a reward that would divide by nothing is refused with its key", "[partitioning]") {
  RewardConfig c;
  CHECK(validate(c).empty());
  c.fail_reward_factor = 0;
  CHECK(validate(c).empty());
  c.normaliser = RewardNormaliser::kSequentialTimeTimesFactor;
  CHECK(validate(c) == std::vector<std::string>{
                           "fail_reward_factor: must be at least 1e-9 where it is divided by"});
  PartitioningConfig task;
  task.reward = c;
  task.reward.kind = RewardKind::kLookaheadJct;
  CHECK_THROWS_AS(world(task), UserError);
}

TEST_CASE("a reward that no number can hold ends the episode with a sentence", "[partitioning]") {
  PartitioningConfig c;
  c.reward.kind = RewardKind::kMeanComputeThroughput;
  c.reward.normalise = true;
  // Ops without memory: the most that the cluster could do is nothing.
  const std::vector<Profile> profiles = {testing::single_op(1, 1, 0, 0, "empty")};
  PartitioningEnv env(std::make_shared<const PartitioningTask>(c, profiles));
  env.reset(JobStream::from_list({{0, 1.0, 0}}, 1));
  CHECK_THROWS_WITH(env.step(1),
                    Catch::StartsWith("env.reward: mean_compute_throughput gives a job "
                                      "of model empty a reward that is not finite"));
}

TEST_CASE("an observation that no message can hold is refused", "[partitioning]") {
  PartitioningConfig c;
  c.ramp.topology = {16, 16, 16};
  CHECK(validate(c).empty());
  c.observation = ObservationKind::kCluster;
  CHECK(validate(c) ==
        std::vector<std::string>{"observation: cluster describes at most 1024 servers, and "
                                 "ramp.topology has 4096"});
  c.ramp.topology = {16, 8, 8};
  CHECK(validate(c).empty());
}

TEST_CASE("an episode that would not end, or not soon, is refused", "[partitioning]") {
  PartitioningConfig c;
  const auto problem = [&c] {
    const auto problems = validate(c);
    return problems.empty() ? std::string() : problems.front();
  };
  c.cluster.max_simulation_time = 1e9;  // a job every 1000
  CHECK(problem().empty());
  c.cluster.max_simulation_time = 1.1e9;
  CHECK_THAT(problem(), Catch::StartsWith("cluster.max_simulation_time: an episode of 1.1e+09 with "
                                          "a job every 1000 (workload.interarrival) has 1.1e+06"));
  c.cluster.max_simulation_time = std::numeric_limits<double>::infinity();
  CHECK_THAT(problem(), Catch::Contains("without end") && Catch::Contains("remove_and_repeat"));
  c.workload.sampling = Sampling::kRemove;
  CHECK(problem().empty());
  // Of how many models the jobs are, only the task knows where none are named.
  c.workload.replication_factor = 1'000'000;
  CHECK(problem().empty());
  CHECK_NOTHROW(PartitioningTask(c, {profiles()[0]}));
  CHECK_THROWS_WITH(PartitioningTask(c, profiles()),
                    Catch::StartsWith("cluster.max_simulation_time: "));
  c = {};
  c.workload.interarrival.value = 1e-12;
  CHECK_THAT(problem(), Catch::StartsWith("cluster.max_simulation_time: "));
}

TEST_CASE("a pool of jobs that fills the memory is refused", "[partitioning]") {
  PartitioningConfig c;
  c.workload.replication_factor = 1'000'000;
  const std::vector<Profile> many(6, profiles()[0]);
  CHECK_THROWS_WITH(PartitioningTask(c, many),
                    Catch::StartsWith("workload.replication_factor: 1000000 jobs of each of 6 "
                                      "models are more than 5000000"));
}

TEST_CASE("recorded jobs of one length are no scale for rewards by length", "[partitioning]") {
  const testing::TempDir folder;
  PartitioningConfig c;
  c.reward.kind = RewardKind::kMultiObjectiveJctBlocking;
  c.workload.recorded.file = (folder / "jobs.csv").string();
  c.workload.recorded.known = 0.5;
  const std::string a = profiles()[0].model;
  const std::string b = profiles()[1].model;
  const auto record = [&](const std::vector<std::string>& models) {
    std::ofstream out(c.workload.recorded.file);
    out << "model,arrival,fraction\n";
    for (std::size_t i = 0; i < models.size(); ++i) out << models[i] << "," << i << ",0.5\n";
  };
  record({a, b, a, b});
  CHECK_NOTHROW(PartitioningTask(c, profiles()));
  record({a, a, a, b});  // of which the first half is known
  CHECK_THROWS_WITH(PartitioningTask(c, profiles()),
                    Catch::EndsWith("in what is known of the recorded jobs"));
}

TEST_CASE("degrees whose graphs would fill the memory are refused with the most that would not",
          "[partitioning]") {
  PartitioningConfig c;
  c.ramp.topology = {32, 32, 4};
  c.op_quantum = 1e-6;
  c.max_partitions_per_op = 64;
  std::vector<ForwardOp> ops;
  std::vector<std::pair<int, int>> chain;
  for (int id = 1; id <= 60; ++id) {
    ops.push_back({id, "Op", 1, 1, 1000, 1000});
    if (id > 1) chain.emplace_back(id - 1, id);
  }
  const std::vector<Profile> profiles = {testing::make_profile(ops, chain)};
  CHECK_NOTHROW(PartitioningTask(c, profiles));
  c.max_partitions_per_op = 512;
  std::string sentence;
  try {
    static_cast<void>(PartitioningTask(c, profiles));
  } catch (const UserError& error) {
    sentence = error.what();
  }
  CHECK_THAT(sentence, Catch::StartsWith("env.max_partitions_per_op: the job graphs cut at every "
                                         "degree up to 512 take "));
  const std::string before = "more than 2 GiB; ";
  const auto at = sentence.find(before);
  REQUIRE(at != std::string::npos);
  c.max_partitions_per_op = std::stoi(sentence.substr(at + before.size()));
  CHECK(c.max_partitions_per_op > 64);
  CHECK_NOTHROW(PartitioningTask(c, profiles));
}

TEST_CASE("impossible configurations are refused with the key at fault", "[partitioning]") {
  const auto problem = [](auto change) {
    PartitioningConfig c;
    change(c);
    const auto problems = validate(c);
    return problems.size() == 1 ? problems.front() : std::to_string(problems.size()) + " problems";
  };
  CHECK(validate(PartitioningConfig{}).empty());
  CHECK(problem([](auto& c) { c.op_quantum = 0; }) == "op_quantum: must be > 0 and at most 1e15");
  CHECK(problem([](auto& c) { c.max_partitions_per_op = 0; }) ==
        "max_partitions_per_op: must be in 1..512");
  CHECK(problem([](auto& c) { c.max_partitions_per_op = 7; }) ==
        "max_partitions_per_op: must be 1 or even, as every op is cut in pairs");
  CHECK(problem([](auto& c) { c.max_partitions_in_observation = 0; }) ==
        "max_partitions_in_observation: must be at least 1");
  CHECK(problem([](auto& c) {
          c.semantic_overrides = {{"exact_tock", true}};
        }) == "semantic_overrides: there is no switch \"exact_tock\"; did you mean 'exact_tick'?");

  PartitioningConfig nested;
  nested.ramp.topology = {2, 3, 1};
  CHECK_THROWS_AS(world(nested), UserError);
  PartitioningConfig reward;
  reward.reward.kind = RewardKind::kMultiObjectiveJctBlocking;
  CHECK_NOTHROW(world(reward));
  CHECK_THROWS_WITH(PartitioningTask(reward, {profiles()[0]}),
                    "reward: multi_objective_jct_blocking needs models of different sequential "
                    "times");
}

}  // namespace
}  // namespace pacml::env
