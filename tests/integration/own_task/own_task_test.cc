#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

// The programs of a task that is not ours, over real processes (docs/adding_a_task.md).

namespace pacml::testing {
namespace {

using nlohmann::json;

Outcome corridor(std::vector<std::string> arguments) {
  const char* program = std::getenv("PACML_CORRIDOR");
  REQUIRE(program != nullptr);
  arguments.insert(arguments.begin(), program);
  return run(arguments);
}

constexpr const char* kConfig = R"(
seed: 3
actors: 2
env: {task: corridor, length: 6, slip: 0.05}
network: {rounds: 1, message_width: 8, hidden_width: 8, node_width: 8, graph_width: 8, readout_width: 16}
actor: {environments: 8, unroll_length: 10}
impala: {batch_decisions: 320, learning_rate: {kind: constant, start: 3.0e-3}}
apex: {batch_size: 128, target_period: 100, optimizer: {kind: adam}, learning_rate: {kind: constant, start: 1.0e-3}}
expert: {futures: 2, horizon: 8}
expert_iteration: {batch_decisions: 320, minibatch_decisions: 128}
replay: {shards: 2, table: {capacity: 20000, min_size: 1000, samples_per_insert: 2, error_buffer: 1000}}
learner: {metrics_seconds: 0.5, evaluate_seconds: 1, evaluate_episodes: 10}
supervision: {silence_seconds: 0}
)";

TEST_CASE("a task of one's own is listed, checked and compared", "[integration][own_task]") {
  const TempDir folder;
  const std::string config = (folder / "c.yaml").string();
  std::ofstream(config) << kConfig;
  const Outcome compared = corridor({"eval", config, "--out", (folder / "e.json").string()});
  INFO(compared.err);
  REQUIRE(compared.code == 0);
  CHECK_THAT(compared.out, Catch::StartsWith("policy") && Catch::Contains("steps"));
  const auto result = json::parse(text_of(folder / "e.json"));
  CHECK(result["objective"] == "steps");
  CHECK(result["policies"][0]["name"] == "right");
  CHECK(result["policies"][0]["left"]["mean"] == 1);

  const Outcome help = corridor({"--help"});
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Catch::StartsWith("pacml: trains policies for the tasks below") &&
                           Catch::Contains("\n  corridor ") &&
                           Catch::Contains(" a walk to the door of a slippery corridor\n"));
  const Outcome refused = corridor({"eval", config, "--set", "env.slip=2"});
  CHECK(refused.code != 0);
  CHECK_THAT(refused.err, Catch::Contains("env: slip: must be in [0, 0.5)"));
  const Outcome unknown = corridor({"eval", config, "--set", "env.task=corridro"});
  CHECK_THAT(unknown.err, Catch::Contains("did you mean 'corridor'?"));
  const Outcome folderless = corridor({"eval", config, "--profiles", "somewhere"});
  CHECK(folderless.code != 0);
  CHECK_THAT(folderless.err, Catch::Contains("--profiles: the task corridor reads none"));
  const Outcome warm = corridor({"train", config, "--run", (folder / "w").string(), "--decisions",
                                 "1000", "--set", "warm_start.policy=best_constant"});
  CHECK(warm.code != 0);
  CHECK_THAT(warm.err, Catch::Contains("best_constant needs constant actions"));
}

TEST_CASE("a task of one's own is learned, by every algorithm", "[integration][own_task]") {
  const std::string algorithm = GENERATE("impala", "apex", "expert_iteration");
  INFO(algorithm);
  const TempDir folder;
  const std::string config = (folder / "c.yaml").string();
  const std::string run = (folder / "run").string();
  std::ofstream(config) << kConfig;
  // A searched decision is worth many, and takes as long.
  const std::string decisions = algorithm == "expert_iteration" ? "30000" : "300000";
  const auto train = [&](const std::string& where, const std::string& for_decisions,
                         std::vector<std::string> more) {
    std::vector<std::string> words = {
        "train",       config,        "--run", where,
        "--decisions", for_decisions, "--set", "algorithm=" + algorithm};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome trained = corridor(words);
    INFO(trained.err);
    REQUIRE(trained.code == 0);
  };
  train((folder / "several").string(), "5000", {});
  // Chance is not judged, nor the clock, by which one of several policies would be the best.
  train(run, decisions, {"--deterministic", "--set", "learner.evaluate_seconds=1e6"});
  const std::string out = (folder / "e.json").string();
  const Outcome compared =
      corridor({"eval", config, "--policy", run + ",right", "--seeds", "40", "--out", out});
  INFO(compared.err);
  REQUIRE(compared.code == 0);
  const auto policies = json::parse(text_of(out))["policies"];
  CHECK(policies[0]["left"]["mean"] == 1);
  // Nothing is better than always to the right.
  CHECK(policies[0]["steps"]["mean"].get<double>() <=
        1.1 * policies[1]["steps"]["mean"].get<double>());
}

}  // namespace
}  // namespace pacml::testing
