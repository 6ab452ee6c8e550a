#include "apps/run/train_config.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "apps/run/largest_messages.h"
#include "common/config/dump.h"
#include "common/config/reader.h"
#include "common/result.h"
#include "common/wire/codec.h"
#include "env/gpu_cluster/generated_workload.h"
#include "env/graph/profile_writer.h"
#include "env/tasks/cluster_scheduling/config.h"
#include "env/tasks/partitioning/environment.h"
#include "tests/support/catch.h"
#include "tests/support/source_path.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> shipped_configs() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(testing::source_path("configs"))) {
    const bool is_of_runs = entry.path().parent_path().filename() != "sites";
    if (is_of_runs && entry.path().extension() == ".yaml") found.push_back(entry.path());
  }
  return found;
}

TEST_CASE("every configuration that we ship is valid and makes a task", "[unit][config]") {
  const auto files = shipped_configs();
  CHECK(files.size() >= 4);
  for (const auto& file : files) {
    INFO(file);
    TrainConfig config;
    REQUIRE_NOTHROW(config = load_train_config(file.string(), {}, ""));
    CHECK_NOTHROW(config.env.make());
  }
}

TEST_CASE("the configurations of GPU clusters are of the clusters that bear their names",
          "[unit][config]") {
  for (const std::string name : {"small16", "leaf128", "fat512", "leaf2048"}) {
    INFO(name);
    const auto file = testing::source_path("configs/gpu_cluster/" + name + ".yaml");
    const TrainConfig config = load_train_config(file.string(), {}, "");
    const auto& task = config.env.as<env::ClusterSchedulingConfig>();
    const env::NamedGpuCluster named = env::named_gpu_cluster(name);
    CHECK(task.cluster.topology == named.cluster.topology);
    CHECK(task.cluster.share == named.cluster.share);
    CHECK(task.cluster.host_cap == named.cluster.host_cap);
    CHECK(task.jobs == named.jobs);
  }
}

TEST_CASE("a run's configuration reads back as it was", "[unit][config]") {
  for (const auto& file : shipped_configs()) {
    INFO(file);
    const TrainConfig config = load_train_config(file.string(), {}, "");
    CHECK(read_config<TrainConfig>(ConfigSource::from_text("dump", dump_config(config))) == config);
  }
}

TEST_CASE("overrides and the folder of profiles replace what the file says", "[unit][config]") {
  const testing::TempDir folder;
  const auto file = (folder / "c.yaml").string();
  std::ofstream(file) << "seed: 3\nenv: {profiles: here}\n";
  const TrainConfig config =
      load_train_config(file, {"impala.discount=0.5", "actors=2"}, "elsewhere");
  CHECK(config.seed == 3);
  CHECK(config.impala.discount == 0.5);
  CHECK(config.actors == 2);
  CHECK(testing::partitioning_of(config).profiles == "elsewhere");
  CHECK(load_train_config(file, {}, "").env.profiles() == "here");
}

TEST_CASE("what cannot be is refused where it was written", "[unit][config]") {
  const testing::TempDir folder;
  const auto file = (folder / "c.yaml").string();
  std::ofstream(file) << "env:\n  ramp:\n    num_channels: 1\n    topology: [2, 4, 2]\n";
  CHECK_THROWS_WITH(load_train_config(file, {}, ""),
                    Catch::StartsWith(file + ":4: env.ramp: topology: 4 racks per group"));
  const std::string fixed = "env.ramp.topology=[4, 4, 2]";
  CHECK_NOTHROW(load_train_config(file, {fixed}, ""));
  const auto refusal = [&](const std::string& change) {
    try {
      static_cast<void>(load_train_config(file, {fixed, change}, ""));
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  for (const std::string change :
       {"seed=-1", "actors=0", "actor.unroll_length=0", "impala.batch_decisions=0",
        "learner.credits_per_actor=0", "learner.metrics_seconds=0", "network.message_width=7",
        "transport.queue_messages=0", "env.op_quantum=0", "env.max_partitions_per_op=0",
        "apex.batch_size=0", "exploration.base=2", "transitions.n_step=0", "replay.shards=0",
        "replay.prefetch=0", "replay.table.capacity=0", "replay.table.priority_exponent=2",
        "replay.table.samples_per_insert=-1", "replay.table.min_size=0"}) {
    INFO(change);
    const std::string key = change.substr(0, change.find('='));
    CHECK_THAT(refusal(change), Catch::StartsWith("--set " + change + ": ") &&
                                    Catch::Contains(key.substr(key.rfind('.') + 1)));
  }
}

TEST_CASE("a task whose model is not there is refused with the nearest name", "[unit][config]") {
  TrainConfig config = testing::tiny_config();
  testing::partitioning_of(config).workload.models = {"alexnte"};
  CHECK_THROWS_WITH(config.env.make(), Catch::Contains("no model \"alexnte\"") &&
                                           Catch::Contains("did you mean 'alexnet'?"));
}

TEST_CASE("processes must agree on algorithm, task, network and graphs, and on nothing else",
          "[unit][config]") {
  const auto hash = [](const TrainConfig& config) {
    return config_hash(agreement_of(config, *config.env.make()));
  };
  const TrainConfig base = testing::tiny_config();
  TrainConfig same = base;
  same.actor.environments = 3;
  same.learner.metrics_seconds = 9;
  same.impala.discount = 0.1;
  same.seed = 77;
  CHECK(hash(same) == hash(base));
  TrainConfig other_task = base;
  testing::partitioning_of(other_task).max_partitions_per_op = 8;
  CHECK(hash(other_task) != hash(base));
  TrainConfig other_network = base;
  other_network.network.readout_width = 8;
  CHECK(hash(other_network) != hash(base));

  TrainConfig other_algorithm = base;
  other_algorithm.algorithm = AlgorithmKind::kApex;
  CHECK(hash(other_algorithm) != hash(base));

  const testing::TempDir here;
  const testing::TempDir there;
  const auto profile = [](double time) {
    return env::to_graph_txt(
        env::Profile{"m", {{1, "Op", time, 2, 1000, 500}, {2, "Op", 1, 1, 1000, 0}}, {{1, 2}}});
  };
  for (const auto* folder : {&here, &there}) fs::create_directory(*folder / "alexnet");
  std::ofstream(here / "alexnet" / "graph.txt") << profile(1);
  std::ofstream(there / "alexnet" / "graph.txt") << profile(1);
  TrainConfig ours = base;
  TrainConfig theirs = base;
  testing::partitioning_of(ours).profiles = here.path().string();
  testing::partitioning_of(theirs).profiles = there.path().string();
  CHECK(hash(ours) != hash(base));
  CHECK(hash(ours) == hash(theirs));  // the same profiles elsewhere
  std::ofstream(there / "alexnet" / "graph.txt") << profile(3);
  CHECK(hash(ours) != hash(theirs));
}

TEST_CASE("where there is a replay, processes must agree on what its transitions mean",
          "[unit][config]") {
  const auto hash = [](const TrainConfig& config) {
    return config_hash(agreement_of(config, *config.env.make()));
  };
  const TrainConfig base = testing::tiny_apex_config();
  TrainConfig same = base;
  same.replay.shards = 7;
  same.replay.table.capacity = 9'999;
  same.apex.batch_size = 1;
  same.exploration.base = 0.1;
  CHECK(hash(same) == hash(base));
  for (const auto change : {+[](actor::NstepConfig& c) { c.n_step = 2; },
                            +[](actor::NstepConfig& c) { c.discount = 0.5; },
                            +[](actor::NstepConfig& c) { c.reward_scale = 2; }}) {
    TrainConfig other = base;
    change(other.transitions);
    CHECK(hash(other) != hash(base));
    other.algorithm = AlgorithmKind::kImpala;  // which has no such transitions
    TrainConfig impala = base;
    impala.algorithm = AlgorithmKind::kImpala;
    CHECK(hash(other) == hash(impala));
  }
}

TEST_CASE("what an actor says of its configuration fits into its Hello", "[unit][config]") {
  for (const auto& file : shipped_configs()) {
    INFO(file);
    wire::Hello hello;
    const auto config = load_train_config(file.string(), {}, "");
    hello.config_text = dump_config(agreement_of(config, *config.env.make()));
    CHECK(wire::decode(wire::encode(hello)));
  }
}

TEST_CASE("settings that do not go together are refused in one sentence", "[unit][config]") {
  TrainConfig config = testing::tiny_config();
  REQUIRE(validate(config).empty());
  std::string sentence;
  SECTION("a network that knows candidates by their places, of a task that shows them") {
    testing::partitioning_of(config).observation = env::ObservationKind::kCluster;
    testing::partitioning_of(config).cluster.lookahead_cache = env::LookaheadCache::kPlacement;
    sentence = "network.head: dense does not read what the task shows";
  }
  SECTION("a network that looks for what candidates show in vain") {
    config.network.head = model::HeadKind::kCandidates;
    sentence = "network.head: candidates reads what a task shows of each";
  }
  SECTION("a start that leans towards a place, of a network that knows none") {
    testing::partitioning_of(config).observation = env::ObservationKind::kCluster;
    testing::partitioning_of(config).cluster.lookahead_cache = env::LookaheadCache::kPlacement;
    config.network.head = model::HeadKind::kCandidates;
    REQUIRE(validate(config).empty());
    config.warm_start.policy = WarmStart::kBestConstant;
    sentence = "warm_start.policy: leans towards a degree by its place";
  }
  SECTION("an algorithm without a policy that is to imitate one") {
    config.warm_start = {.policy = WarmStart::kImitate, .teacher = "random"};
    REQUIRE(validate(config).empty());
    config.algorithm = AlgorithmKind::kApex;
    sentence = "warm_start.policy: imitates by what a policy prefers, and algorithm: apex";
  }
  SECTION("messages of which the servers alone are too much") {
    auto& task = testing::partitioning_of(config);
    task.observation = env::ObservationKind::kCluster;
    task.cluster.lookahead_cache = env::LookaheadCache::kPlacement;
    task.ramp.topology = {16, 16, 4};
    config.network.head = model::HeadKind::kCandidates;
    config.actor = {.environments = 512, .unroll_length = 20};
    REQUIRE(validate(config).empty());
    config.actor = {.environments = 4096, .unroll_length = 128};
    sentence = "actor.unroll_length: a message of 4096 x 128 decisions may take ";
  }
  SECTION("batches of which no answer to a draw would be believed") {
    config = testing::tiny_apex_config();
    auto& task = testing::partitioning_of(config);
    task.observation = env::ObservationKind::kCluster;
    task.cluster.lookahead_cache = env::LookaheadCache::kPlacement;
    task.ramp.topology = {16, 16, 4};
    config.network.head = model::HeadKind::kCandidates;
    REQUIRE(validate(config).empty());
    config.apex.batch_size = 65'536;
    sentence = "apex.batch_size: a batch of 65536 transitions may take ";
  }
  SECTION("several learners of an algorithm that has one") {
    config.algorithm = AlgorithmKind::kPpo;
    REQUIRE(validate(config).empty());
    config.learner.replicas = 2;
    sentence = "learner.replicas: algorithm: ppo makes an update in steps of its own";
  }
  SECTION("several learners of an algorithm whose baselines are in one") {
    config.algorithm = AlgorithmKind::kReinforce;
    REQUIRE(validate(config).empty());
    config.learner.replicas = 2;
    sentence = "learner.replicas: algorithm: reinforce has its baselines in one learner";
  }
  SECTION("several learners that have no transition each to draw") {
    config = testing::tiny_apex_config();
    config.apex.batch_size = 32;
    config.learner.replicas = 32;
    REQUIRE(validate(config).empty());
    config.learner.replicas = 33;
    sentence = "learner.replicas: must be at most apex.batch_size";
  }
  SECTION("episodes that are held back beyond what a sequence holds") {
    config.algorithm = AlgorithmKind::kReinforce;
    config.actor = {.environments = 8, .unroll_length = 2047};
    config.reinforce.longest_episode = 2048;
    REQUIRE(validate(config).empty());
    config.actor.unroll_length = 2048;
    sentence = "reinforce.longest_episode: and actor.unroll_length must together be below 4096";
  }
  SECTION("several learners, each of which would follow its own clock") {
    config.impala.learning_rate = {
        .kind = learner::ScheduleKind::kLinear, .start = 1e-3, .over = learner::ScheduleSpan::kRun};
    REQUIRE(validate(config).empty());
    config.learner.replicas = 2;
    sentence = "impala.learning_rate.over: run is for one learner";
  }
  const auto problems = validate(config);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems.front(), Catch::StartsWith(sentence));
}

TEST_CASE("messages are as large as all that may be in them", "[unit][config]") {
  TrainConfig config;
  config.actor = {.environments = 2, .unroll_length = 10};
  ObservationSpec shown;
  shown.slots = {{.name = "graph", .dynamic_width = 3}};
  shown.globals = {{"load", "1"}};
  shown.candidates.most = 4;
  constexpr std::size_t kNodes = 1'000;
  constexpr std::int64_t kState = kNodes * 3 * sizeof(float);

  SECTION("a transition has two states, with the features of all nodes of a graph") {
    config.algorithm = AlgorithmKind::kApex;
    config.transitions.n_step = 5;
    const auto alone = largest_messages(config, shown, kNodes);
    CHECK(alone.step > 2 * kState);
    CHECK(alone.experience == 2 * (10 + 5) * alone.step);
    CHECK(alone.draw > config.apex.batch_size * alone.step);
    shown.agents = 3;
    CHECK(largest_messages(config, shown, kNodes).beside == 3 * 5);
    CHECK(too_large(config, shown, kNodes).empty());
    const auto problems = too_large(config, shown, 100 * kNodes);
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems.front(), Catch::StartsWith("apex.batch_size: a batch of "));
  }
  SECTION("of each agent an episode may be held back") {
    config.algorithm = AlgorithmKind::kReinforce;
    config.reinforce.longest_episode = 100;
    CHECK(largest_messages(config, shown).beside == 101);
    shown.agents = 3;
    CHECK(largest_messages(config, shown).beside == 303);
    config.actor.environments = 4'000;
    CHECK_THAT(too_large(config, shown).front(),
               Catch::StartsWith("reinforce.longest_episode: and actor.unroll_length"));
  }
  SECTION("nodes' features may be too much for an actor's message") {
    const auto problems = too_large(config, shown, 1'000 * kNodes);
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems.front(),
               Catch::StartsWith("actor.unroll_length: a message of 2 x 10 decisions may take "));
  }
}

TEST_CASE("what a network does not read is mended where the network is described",
          "[unit][config]") {
  const auto refusal = [](std::string_view text) -> std::string {
    try {
      static_cast<void>(read_config<TrainConfig>(ConfigSource::from_text("x.yaml", text)));
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(refusal("env: {task: partitioning}\nnetwork:\n  head: candidates\n"),
             Catch::StartsWith("x.yaml:3: network.head: candidates reads what a task shows of "));
  CHECK_THAT(refusal("network:\n  head: candidates\n  encoders: [{slot: docks}]\n"),
             Catch::Contains("x.yaml:3: network.encoders: decisions of this task show no graph "));
}

TEST_CASE("what an algorithm takes at a time is its own section's", "[unit][config]") {
  TrainConfig config;
  config.impala.batch_decisions = 11;
  config.impala.max_policy_lag = 12;
  config.ppo.batch_decisions = 13;
  config.ppo.max_policy_lag = 14;
  CHECK(update_size_of(config).batch_decisions == 11);
  CHECK(update_size_of(config).max_policy_lag == 12);
  config.algorithm = AlgorithmKind::kPpo;
  CHECK(update_size_of(config).batch_decisions == 13);
  CHECK(update_size_of(config).max_policy_lag == 14);
  config.apex.batch_size = 15;
  config.apex.max_policy_lag = 16;
  config.algorithm = AlgorithmKind::kApex;
  CHECK(update_size_of(config).batch_decisions == 15);
  CHECK(update_size_of(config).max_policy_lag == 16);
}

}  // namespace
}  // namespace pacml::apps
