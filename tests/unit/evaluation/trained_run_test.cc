#include "apps/evaluation/trained_run.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/evaluation/model_file.h"
#include "apps/evaluation/policy_list.h"
#include "apps/evaluation/watched_policy.h"
#include "apps/run/resume.h"
#include "apps/run/run_directory.h"
#include "common/config/dump.h"
#include "common/result.h"
#include "common/try_again.h"
#include "learner/checkpoint.h"
#include "learner/export/policy_export.h"
#include "learner/export/policy_safetensors.h"
#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"
#include "tests/support/random_run.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

env::EnvironmentSpec spec_of(const TrainConfig& config) { return config.env.make()->spec(); }

// A run folder as training leaves it.
class FinishedRun {
 public:
  explicit FinishedRun(TrainConfig config = testing::tiny_config())
      : config_(std::move(config)),
        run_(RunDirectory::create(folder_ / "run", dump_config(config_))) {}

  [[nodiscard]] model::ParameterLayout layout() const { return model::make_layout(shape()); }
  [[nodiscard]] model::NetworkShape shape() const {
    return model::make_shape(config_.network, spec_of(config_));
  }
  // Weights of the seed `updates`.
  [[nodiscard]] learner::Checkpoint checkpoint(std::int64_t updates) const {
    learner::Checkpoint out;
    out.algorithm.algorithm = "impala";
    out.algorithm.vectors["parameters"] = weights(updates);
    out.counters["updates"] = updates;
    return out;
  }
  [[nodiscard]] std::vector<float> weights(std::int64_t updates) const {
    return model::random_parameters(shape(), Seed{static_cast<std::uint64_t>(updates)}).values;
  }
  learner::CheckpointFolder checkpoints() const { return {run_.checkpoints(), 3}; }
  [[nodiscard]] fs::path path() const { return run_.path(); }
  [[nodiscard]] TrainedRun load() const { return load_trained_run(path(), spec_of(config_)); }

 private:
  TrainConfig config_;
  testing::TempDir folder_;
  RunDirectory run_;
};

TEST_CASE("a run's policy is its best one, and its last one when none was evaluated",
          "[unit][evaluation]") {
  const FinishedRun run;
  REQUIRE(run.checkpoints().save(run.checkpoint(3), run.layout()));
  REQUIRE(run.checkpoints().save(run.checkpoint(9), run.layout()));
  const TrainedRun last = run.load();
  CHECK(last.parameters.version == PolicyVersion{9});
  CHECK(last.parameters.values == run.weights(9));
  CHECK(last.parameters.layout_hash == run.layout().hash);
  CHECK(last.shape == run.shape());

  REQUIRE(run.checkpoints().save_best(run.checkpoint(5), run.layout()));
  const TrainedRun best = run.load();
  CHECK(best.file.filename() == "best.safetensors");
  CHECK(best.parameters.values == run.weights(5));
}

TEST_CASE("a policy that was never updated is told to be one", "[unit][evaluation]") {
  const FinishedRun run;
  REQUIRE(run.checkpoints().save(run.checkpoint(0), run.layout()));
  CHECK_THAT(run.load().warning, Catch::Contains("has not been updated once"));
  REQUIRE(run.checkpoints().save(run.checkpoint(1), run.layout()));
  CHECK(run.load().warning.empty());
}

TEST_CASE("whoever looks at a run's decisions is told as well", "[unit][evaluation]") {
  const FinishedRun run;
  REQUIRE(run.checkpoints().save(run.checkpoint(0), run.layout()));
  const env::TaskPtr task = testing::tiny_config().env.make();
  CHECK(WatchedPolicy::of_run(task, run.path()).warning() == run.load().warning);
  CHECK(WatchedPolicy::of_baseline(task, "random").warning().empty());
}

TEST_CASE("what a run's policy says of values is in the unit of rewards, whatever it learned from",
          "[unit][evaluation]") {
  constexpr double kScale = 4;  // a power of two: exact
  TrainConfig config = testing::tiny_config();
  const auto kind = GENERATE(AlgorithmKind::kImpala, AlgorithmKind::kPpo, AlgorithmKind::kApex);
  INFO(name_of(kind));
  config.algorithm = kind;
  config.impala.reward_scale = kScale;
  config.ppo.reward_scale = kScale;
  config.transitions.reward_scale = kScale;
  const FinishedRun run(config);
  const bool all_are_values = kind == AlgorithmKind::kApex;
  learner::Checkpoint checkpoint = run.checkpoint(1);
  checkpoint.algorithm.reals = {
      {"values.mean", 0}, {"values.mean_square", 1}, {"values.weight", 0}};
  checkpoint.algorithm.reals["reward_rate_rewards"] = all_are_values ? kScale * -3 : -3;
  checkpoint.algorithm.reals["reward_rate_elapsed"] = 2;
  REQUIRE(run.checkpoints().save(checkpoint, run.layout()));
  const TrainedRun trained = run.load();
  CHECK(trained.reward_rate == -1.5);
  CHECK(trained.parameters.values == run.weights(1));
  REQUIRE(trained.valued);
  std::vector<float> expected = run.weights(1);
  std::size_t scaled = 0;
  for (const auto& entry : run.layout().entries) {
    if (!entry.name.starts_with("value.") &&
        !(all_are_values && entry.name.starts_with("logits."))) {
      continue;
    }
    for (float& w : std::span(expected).subspan(entry.offset, entry.size)) w /= float{kScale};
    scaled += entry.size;
  }
  CHECK(scaled > 0);
  CHECK(trained.valued->values == expected);
}

TEST_CASE("a policy whose values nobody has trained expects nothing", "[unit][evaluation]") {
  TrainConfig config = testing::tiny_config();
  config.algorithm = AlgorithmKind::kReinforce;
  const FinishedRun run(config);
  learner::Checkpoint checkpoint = run.checkpoint(1);
  checkpoint.algorithm.reals = {
      {"values.mean", 0}, {"values.mean_square", 1}, {"values.weight", 0}};
  REQUIRE(run.checkpoints().save(checkpoint, run.layout()));
  const TrainedRun trained = run.load();
  REQUIRE(trained.valued);
  for (const auto& entry : run.layout().entries) {
    const auto weights = std::span(trained.valued->values).subspan(entry.offset, entry.size);
    const auto learned = std::span(trained.parameters.values).subspan(entry.offset, entry.size);
    INFO(entry.name);
    if (entry.name.starts_with("value.")) {
      for (const float weight : weights) CHECK(weight == 0);
    } else {
      CHECK(std::ranges::equal(weights, learned));
    }
  }
  const env::TaskPtr task = config.env.make();
  const auto environment = task->make_factory()();
  environment->reset(Seed{1});
  auto watched = WatchedPolicy::of_model(task, trained, "run");
  CHECK_FALSE(watched.ask(*environment).value.has_value());
}

TEST_CASE("where the best policy's file is broken, the newest checkpoint is taken, and it is said",
          "[unit][evaluation]") {
  const FinishedRun run;
  REQUIRE(run.checkpoints().save(run.checkpoint(9), run.layout()));
  REQUIRE(run.checkpoints().save_best(run.checkpoint(5), run.layout()));
  CHECK(run.load().warning.empty());
  const fs::path best = run.checkpoints().best_file();
  fs::resize_file(best, fs::file_size(best) / 2);
  const fs::path stray = run.path() / "checkpoints" / "checkpoint-999999999999.safetensors";
  std::ofstream(stray) << "stray";
  const TrainedRun taken = run.load();
  CHECK(taken.parameters.values == run.weights(9));
  CHECK_THAT(taken.warning, Catch::Contains(best.string()) && Catch::Contains(stray.string()) &&
                                Catch::Contains("remove it"));
}

TEST_CASE("whoever plays other job graphs than a run was trained on is told",
          "[unit][evaluation]") {
  const FinishedRun run;
  REQUIRE(run.checkpoints().save(run.checkpoint(9), run.layout()));
  const auto spec = spec_of(testing::tiny_config());
  const auto folder = RunDirectory::open(run.path());
  Agreement agreement;
  agreement.graphs = graph_hashes(spec);
  REQUIRE(agreement.graphs.size() == 1);
  agreement.graphs["another"] = "00ff";  // which is not played here
  record_inputs(folder, agreement);
  CHECK(run.load().warning.empty());
  const std::string name = spec.graph_names.front();
  agreement.graphs[name] = "00ff";
  record_inputs(folder, agreement);
  CHECK_THAT(run.load().warning, Catch::StartsWith(run.path().string() +
                                                   " was trained on other job graphs than these: " +
                                                   name + " is not what it was") &&
                                     Catch::Contains("--profiles") && Catch::EndsWith("\n"));
}

TEST_CASE("where the best policy's file is missing, it is said", "[unit][evaluation]") {
  const FinishedRun run;
  learner::Checkpoint evaluated = run.checkpoint(9);
  evaluated.best_score = 0.25;
  REQUIRE(run.checkpoints().save(evaluated, run.layout()));
  const TrainedRun taken = run.load();
  CHECK(taken.parameters.values == run.weights(9));
  CHECK_THAT(taken.warning, Catch::Contains("best.safetensors is missing; taking ") &&
                                Catch::Contains(taken.file.string()));
}

TEST_CASE("a best policy that cannot be read now is no reason to take another",
          "[unit][evaluation]") {
  const FinishedRun run;
  REQUIRE(run.checkpoints().save(run.checkpoint(9), run.layout()));
  // Opens, and answers each read with EIO.
  std::filesystem::create_symlink("/proc/self/mem", run.checkpoints().best_file());
  CHECK_THROWS_AS(run.load(), TryAgainError);
}

TEST_CASE("a folder without a policy is refused with what is missing", "[unit][evaluation]") {
  SECTION("no run") {
    const testing::TempDir empty;
    CHECK_THROWS_WITH(load_trained_run(empty.path(), spec_of(testing::tiny_config())),
                      empty.path().string() + " holds no run: its config.yaml is missing");
    CHECK_THROWS_WITH(
        name_policies({empty.path().string()}, testing::tiny_config().env.make(), Seed{1}, 1),
        empty.path().string() + " holds no run: its config.yaml is missing");
  }
  const FinishedRun run;
  SECTION("no checkpoint") {
    CHECK_THROWS_WITH(run.load(),
                      "there is no checkpoint in " + (run.path() / "checkpoints").string());
  }
  SECTION("a damaged checkpoint") {
    REQUIRE(run.checkpoints().save_best(run.checkpoint(5), run.layout()));
    const fs::path file = run.checkpoints().best_file();
    fs::resize_file(file, fs::file_size(file) / 2);
    CHECK_THROWS_WITH(run.load(), Catch::StartsWith(file.string() + " "));
  }
  SECTION("a broken configuration") {
    std::ofstream(run.path() / "config.yaml") << "seed: [\n";
    CHECK_THROWS_WITH(run.load(), Catch::StartsWith((run.path() / "config.yaml").string() + ":"));
  }
}

TEST_CASE("an exported policy says what its values are relative to", "[unit][evaluation]") {
  const testing::TempDir folder;
  const fs::path file = folder / "policy.safetensors";
  const TrainConfig config = testing::tiny_config();
  const auto spec = spec_of(config);
  const auto exported = [&](const char* rate) {
    learner::PolicyExport policy;
    policy.shape = model::make_shape(config.network, spec);
    policy.parameters = model::random_parameters(policy.shape, Seed{1});
    policy.graphs = spec.graphs;
    policy.globals = spec.observation.globals;
    policy.notes = {{"config", dump_config(config)}, {learner::kValueUnit, learner::kRewards}};
    if (rate != nullptr) policy.notes[learner::kRewardRate] = rate;
    REQUIRE(learner::export_safetensors(policy, file));
    return load_exported_policy(file, spec);
  };
  CHECK(exported(nullptr).reward_rate == 0);
  CHECK(exported("-0.125").reward_rate == -0.125);
  for (const char* broken : {"", "fast", "inf", "1 "}) {
    CHECK_THROWS_WITH(exported(broken), Catch::Contains("says a reward_rate that is no number: "));
  }
}

TEST_CASE("a run that was trained for other decisions is refused", "[unit][evaluation]") {
  const FinishedRun run;
  REQUIRE(run.checkpoints().save_best(run.checkpoint(5), run.layout()));
  TrainConfig other = testing::tiny_config();
  SECTION("with the weight that does not fit") {
    testing::partitioning_of(other).max_partitions_per_op = 8;
    CHECK_THROWS_WITH(load_trained_run(run.path(), spec_of(other)),
                      Catch::Contains("best.safetensors is a checkpoint of another network: "
                                      "graph_norm.weight is") &&
                          Catch::EndsWith("; its decisions showed other things than these: " +
                                          (run.path() / "config.yaml").string() +
                                          " has the env that it was trained for"));
  }
  SECTION("with what its network does not read") {
    testing::partitioning_of(other).observation = env::ObservationKind::kCluster;
    testing::partitioning_of(other).cluster.lookahead_cache = env::LookaheadCache::kPlacement;
    CHECK_THROWS_WITH(load_trained_run(run.path(), spec_of(other)),
                      Catch::Contains("was trained for other decisions: network.head: dense"));
  }
}

TEST_CASE("whoever asks a policy about other features, as many as its own, is told the first",
          "[unit][evaluation]") {
  const TrainConfig config = testing::cluster_config();
  const FinishedRun run(config);
  REQUIRE(run.checkpoints().save_best(run.checkpoint(5), run.layout()));
  const testing::TempDir folder;
  const fs::path file = folder / "policy.safetensors";
  testing::write_random_policy(file, config, 5);
  const env::EnvironmentSpec own = spec_of(config);
  REQUIRE(own.observation.globals.size() > 1);
  env::EnvironmentSpec here = own;
  std::string parts;
  SECTION("a global") {
    FeatureSpec& other = here.observation.globals[1];
    parts = "on the global " + other.name + " [" + other.unit + "] where these have the global ";
    other.name = "heat";
    other.unit = "K";
    parts += "heat [K]; what it does here was not learned there\n";
  }
  SECTION("one in another unit") {
    FeatureSpec& other = here.observation.globals.back();
    parts = "on the global " + other.name + " [" + other.unit + "] where these have ";
    other.unit = "furlongs";
    parts += "the global " + other.name + " [furlongs]; ";
  }
  for (const fs::path& policy : {run.path(), file}) {
    CHECK(load_trained_policy(policy, own).warning.empty());
    const TrainedRun there = load_trained_policy(policy, here);
    CHECK_THAT(
        there.warning,
        Catch::StartsWith(policy.string() +
                          " was trained on other decisions than these, which are as wide: ") &&
            Catch::Contains(parts));
    CHECK(there.parameters.values == run.weights(5));
  }
}

TEST_CASE("a policy that was shown server by server is refused on another topology, by both names",
          "[unit][evaluation]") {
  const auto on = [](const std::array<int, 3>& topology) {
    TrainConfig config = testing::cluster_config();
    testing::partitioning_of(config).ramp.topology = topology;
    return config;
  };
  const TrainConfig own = on({4, 4, 4});
  const FinishedRun run(own);
  REQUIRE(run.checkpoints().save_best(run.checkpoint(5), run.layout()));
  const testing::TempDir folder;
  const fs::path file = folder / "policy.safetensors";
  testing::write_random_policy(file, own, 5);
  CHECK(run.load().warning.empty());
  CHECK(load_exported_policy(file, spec_of(own)).parameters.values == run.weights(5));

  struct Other {
    std::array<int, 3> topology;
    std::string name;
    bool fits = false;  // its weights are as many
  };
  const auto other = GENERATE(Other{{8, 2, 4}, "8x2x4", true}, Other{{4, 4, 2}, "4x4x2", false});
  const TrainConfig there = on(other.topology);
  const env::TaskPtr task = there.env.make();
  const auto layout = model::make_layout(model::make_shape(there.network, task->spec()));
  REQUIRE((layout.hash == run.layout().hash) == other.fits);
  const auto refused = [&other](const fs::path& policy) {
    return policy.string() +
           " was trained on the servers of topology 4x4x4, which its decisions show one by one, "
           "and is not for those of topology " +
           other.name;
  };
  const auto [groups, racks, servers] = other.topology;
  const std::vector<std::string> change = {"env.ramp.topology=[" + std::to_string(groups) + "," +
                                           std::to_string(racks) + "," + std::to_string(servers) +
                                           "]"};
  for (const fs::path& policy : {run.path(), file}) {
    CHECK_THROWS_WITH(load_trained_policy(policy, task->spec()), refused(policy));
    CHECK_THROWS_WITH(load_model(policy, {}, change), refused(policy));
    CHECK_THROWS_WITH(name_policies({policy.string() + "+search:K=2,H=2"}, task, Seed{1}, 1),
                      refused(policy));
  }
  CHECK_THROWS_WITH(WatchedPolicy::of_run(task, run.path()), refused(run.path()));
}

TEST_CASE("a policy that was shown shares of the servers is for every topology",
          "[unit][evaluation]") {
  const auto on = [](const std::array<int, 3>& topology,
                     const std::vector<std::array<int, 3>>& further) {
    TrainConfig config = testing::cluster_config();
    testing::partitioning_of(config).observation = env::ObservationKind::kAnyCluster;
    testing::partitioning_of(config).ramp.topology = topology;
    testing::partitioning_of(config).further_topologies = further;
    testing::partitioning_of(config).cluster.max_simulation_time = 1e6;
    return config;
  };
  const TrainConfig own = on({4, 4, 4}, {{2, 2, 2}, {4, 4, 2}});
  const FinishedRun run(own);
  REQUIRE(run.checkpoints().save_best(run.checkpoint(5), run.layout()));
  const testing::TempDir folder;
  const fs::path file = folder / "policy.safetensors";
  testing::write_random_policy(file, own, 5);
  for (const auto& other : {on({8, 2, 4}, {}), on({3, 3, 2}, {{4, 4, 4}})}) {
    for (const fs::path& policy : {run.path(), file}) {
      const TrainedRun loaded = load_trained_policy(policy, spec_of(other));
      CHECK(loaded.warning.empty());
      CHECK(loaded.parameters.values == run.weights(5));
    }
  }
}

}  // namespace
}  // namespace pacml::apps
