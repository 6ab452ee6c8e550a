#include "apps/evaluation/trained_run.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "apps/evaluation/policy_list.h"
#include "apps/run/run_directory.h"
#include "common/config/dump.h"
#include "common/result.h"
#include "learner/checkpoint.h"
#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

env::EnvironmentSpec spec_of(const TrainConfig& config) { return config.env.make()->spec(); }

// A run folder as training leaves it.
class FinishedRun {
 public:
  FinishedRun() : run_(RunDirectory::create(folder_ / "run", dump_config(config_))) {}

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
  TrainConfig config_ = testing::tiny_config();
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

TEST_CASE("a run that was trained for other decisions is refused", "[unit][evaluation]") {
  const FinishedRun run;
  REQUIRE(run.checkpoints().save_best(run.checkpoint(5), run.layout()));
  TrainConfig other = testing::tiny_config();
  SECTION("with the weight that does not fit") {
    testing::partitioning_of(other).max_partitions_per_op = 8;
    CHECK_THROWS_WITH(load_trained_run(run.path(), spec_of(other)),
                      Catch::Contains("best.safetensors is a checkpoint of another network: "
                                      "graph_norm.weight is"));
  }
  SECTION("with what its network does not read") {
    testing::partitioning_of(other).observation = env::ObservationKind::kCluster;
    testing::partitioning_of(other).cluster.lookahead_cache = env::LookaheadCache::kPlacement;
    CHECK_THROWS_WITH(load_trained_run(run.path(), spec_of(other)),
                      Catch::Contains("was trained for other decisions: network.head: dense"));
  }
}

}  // namespace
}  // namespace pacml::apps
