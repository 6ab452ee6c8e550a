#include "apps/run/resume.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "common/config/dump.h"
#include "common/result.h"
#include "env/tasks/device_placement/config.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

// A run that was begun with the tiny configuration.
class Begun {
 public:
  explicit Begun(const TrainConfig& config = testing::tiny_config())
      : run_(RunDirectory::create(folder_ / "run", dump_config(as_recorded(config)))) {}

  [[nodiscard]] const RunDirectory& run() const { return run_; }
  [[nodiscard]] fs::path operator/(const std::string& name) const { return folder_ / name; }
  // Resumed with this text for a configuration.
  [[nodiscard]] Resumption with(const std::string& said, const std::string& profiles = {}) const {
    return resume_config(run_, ConfigSource::from_text("said.yaml", said), profiles, {});
  }
  [[nodiscard]] std::string refusal(const std::string& said,
                                    const std::string& profiles = {}) const {
    try {
      static_cast<void>(with(said, profiles));
    } catch (const UserError& error) {
      return error.what();
    }
    return "none";
  }

 private:
  testing::TempDir folder_;
  RunDirectory run_;
};

TEST_CASE("a resumed run has its own configuration, whatever is not said", "[unit][config]") {
  const Begun begun;
  const auto [config, changes] = begun.with("seed: 1");
  CHECK(config == testing::tiny_config());
  CHECK(changes.empty());
  CHECK(begun.with(dump_config(testing::tiny_config())).config == config);
}

TEST_CASE("a change that makes another run of it is refused, every one by name", "[unit][config]") {
  const Begun begun;
  for (const std::string said :
       {"seed: 2", "algorithm: apex", "env: {ramp: {topology: [4, 2, 2]}}",
        "env: {max_partitions_per_op: 8}", "env: {reward: {fail_reward: -2}}",
        "network: {readout_width: 32}", "impala: {discount: 0.5}",
        "impala: {value_normalisation: none, advantage_scaling: none}", "transitions: {n_step: 5}",
        "replay: {shards: 3}", "replay: {table: {capacity: 20000}}",
        "learner: {evaluate_episodes: 3}", "warm_start: {episodes: 9}"}) {
    INFO(said);
    CHECK_THAT(begun.refusal(said), Catch::StartsWith("a resumed run stays what it is: "));
  }
  const auto both = begun.refusal("{seed: 2, env: {ramp: {topology: [4, 2, 2]}}, actors: 3}");
  CHECK_THAT(both,
             Catch::Contains("seed is 2, and 1 in the run (said.yaml:1)") &&
                 Catch::Contains("env.ramp.topology is [4, 2, 2], and [2, 2, 2] in the run") &&
                 !Catch::Contains("actors"));
}

TEST_CASE("a refusal stays short, however much differs", "[unit][config]") {
  const Begun begun;
  const auto many = begun.refusal(
      "{seed: 2,\n env: {max_partitions_per_op: 8,\n reward: {fail_reward: -2}},\n"
      " network: {readout_width: 32},\n impala: {discount: 0.5},\n learner: {evaluate_episodes: "
      "3}}");
  CHECK_THAT(many, Catch::Contains("seed is 2, and 1 in the run (said.yaml:1)") &&
                       Catch::Contains("(said.yaml:2)") &&
                       Catch::Contains("; and 2 more settings differ;"));
  CHECK(many.size() < 500);
}

TEST_CASE("a configuration is not blamed for what the run has where it says nothing",
          "[unit][config]") {
  TrainConfig leaning = testing::tiny_config();
  leaning.warm_start.policy = WarmStart::kBestConstant;
  const Begun begun(leaning);
  // Right by itself; with the run's warm start it is not.
  const auto sentence = begun.refusal(
      "{network: {head: candidates}, env: {observation: cluster, cluster: {lookahead_cache: "
      "placement}}}");
  CHECK_THAT(sentence, Catch::StartsWith("said.yaml does not go with the run") &&
                           Catch::Contains("warm_start.policy") &&
                           Catch::Contains(begun.run().config_file().string()));
  CHECK_THAT(begun.refusal("{seed: many}"), Catch::StartsWith("said.yaml:1: "));
}

TEST_CASE("a change that does no harm is taken and told", "[unit][config]") {
  const Begun begun;
  const auto [config, changes] = begun.with(
      "{actors: 3, learner: {metrics_seconds: 5}, transport: {handshake_ms: 900},"
      " impala: {learning_rate: {start: 1.0e-4}}, security: {client: other}}");
  CHECK(config.actors == 3);
  CHECK(config.learner.metrics_seconds == 5);
  CHECK(config.impala.learning_rate.start == 1e-4);
  CHECK(config.env == testing::tiny_config().env);
  CHECK(changes.size() == 5);
  CHECK(changes.front() == "actors: 3 from now on, 1 before");
}

TEST_CASE("how it learns from now on may change in every algorithm's section", "[unit][config]") {
  const Begun begun;
  for (const auto& algorithm : enum_names(AlgorithmKind{})) {
    const std::string section(algorithm.name);
    INFO(section);
    CHECK(begun.with("{" + section + ": {learning_rate: {start: 1.2e-4}, max_policy_lag: 3}}")
              .changes.size() == 2);
  }
  CHECK(begun.refusal("learner: {learning_rate: 1}") != "none");
}

TEST_CASE("a run on its own models keeps their folder, also from elsewhere", "[unit][config]") {
  const testing::TempDir models;
  TrainConfig config = testing::tiny_config();
  testing::partitioning_of(config).profiles = models.path().string();
  const Begun begun(config);
  CHECK(begun.with("seed: 1").config.env.profiles() == models.path().string());

  const testing::TempDir moved;
  const auto [elsewhere, changes] = begun.with("seed: 1", moved.path().string());
  CHECK(testing::partitioning_of(elsewhere).profiles == moved.path().string());
  CHECK(changes.size() == 1);
  fs::remove_all(models.path());
  CHECK_THAT(begun.refusal("seed: 1"),
             Catch::Contains(models.path().string()) && Catch::Contains("--profiles"));
  CHECK(begun.refusal("seed: 1", moved.path().string()) == "none");
}

TEST_CASE("paths are recorded so that they hold from every folder", "[unit][config]") {
  TrainConfig config;
  testing::partitioning_of(config).profiles = "models";
  config.security.keys = "keys/../other";
  config.warm_start.from = "runs/a";
  const auto recorded = as_recorded(config);
  CHECK(testing::partitioning_of(recorded).profiles == (fs::current_path() / "models").string());
  CHECK(recorded.security.keys == (fs::current_path() / "other").string());
  CHECK(recorded.warm_start.from == (fs::current_path() / "runs/a").string());
  CHECK(as_recorded(TrainConfig{}) == TrainConfig{});

  TrainConfig placing;
  placing.env = env::TaskConfig("device_placement");
  auto& task = placing.env.as<env::DevicePlacementConfig>();
  task.graphs = {"g.json"};
  task.devices = {"placeto:2", "a100x4", "mine/devices.yaml"};
  placing.env.make_paths_absolute();
  CHECK(task.graphs[0] == (fs::current_path() / "g.json").string());
  CHECK(task.devices ==
        std::vector<std::string>{"placeto:2", "a100x4",
                                 (fs::current_path() / "mine/devices.yaml").string()});
  // Whether two hosts agree does not depend on where either has them.
  placing.env.forget_folders();
  CHECK(task.graphs[0] == "g.json");
  CHECK(task.devices.back() == "devices.yaml");
}

TEST_CASE("a run is not resumed on other job graphs", "[unit][config]") {
  const Begun begun;
  using Graphs = std::map<std::string, std::string>;
  Agreement agreement;
  agreement.graphs = {{"alexnet", "00ff"}, {"vgg16", "1234"}};
  CHECK_NOTHROW(check_inputs(begun.run(), agreement));  // it has not kept any
  record_inputs(begun.run(), agreement);
  CHECK_NOTHROW(check_inputs(begun.run(), agreement));
  for (const Graphs& other :
       {Graphs{{"alexnet", "00ff"}, {"vgg16", "1235"}}, Graphs{{"alexnet", "00ff"}}}) {
    Agreement now;
    now.graphs = other;
    CHECK_THROWS_WITH(check_inputs(begun.run(), now),
                      Catch::Contains("vgg16 is not what it was") && Catch::Contains("--profiles"));
  }
  std::ofstream(begun / "run/graphs.json") << "nonsense";
  CHECK_THROWS_AS(check_inputs(begun.run(), agreement), UserError);
}

TEST_CASE("a run is not resumed on files that say something else", "[unit][config]") {
  const Begun begun;
  Agreement agreement;
  agreement.inputs = {{"env.workload.recorded.file", "00ff"}};
  CHECK_NOTHROW(check_inputs(begun.run(), agreement));  // it has not kept any
  record_inputs(begun.run(), agreement);
  CHECK_NOTHROW(check_inputs(begun.run(), agreement));
  Agreement changed;
  changed.inputs = {{"env.workload.recorded.file", "00fe"}};
  CHECK_THROWS_WITH(check_inputs(begun.run(), changed),
                    Catch::Contains("what env.workload.recorded.file names has changed since"));
  std::ofstream(begun / "run/inputs.json") << "[]";
  CHECK_THROWS_WITH(check_inputs(begun.run(), agreement), Catch::Contains("inputs.json"));
}

}  // namespace
}  // namespace pacml::apps
