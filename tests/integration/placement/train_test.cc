#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/pacml_process.h"
#include "tests/support/temp_dir.h"

// Device placement over real processes.

namespace pacml::testing {
namespace {

using nlohmann::json;

constexpr const char* kConfig = R"(
seed: 3
actors: 1
env: {task: device_placement, families: [branch], num_graphs: 4, devices: ["placeto:2"], what_if: true}
network:
  head: candidates
  candidates: {hidden_width: 16, width: 16, state_width: 16}
  encoders: [{slot: groups, width: 8, blocks: 1}]
actor: {environments: 8, unroll_length: 16}
impala: {batch_decisions: 256, discount: 0.9, learning_rate: {kind: constant, start: 3.0e-3}}
ppo: {batch_decisions: 1024, minibatch_decisions: 256, discount: 0.9, learning_rate: {kind: constant, start: 3.0e-3}}
learner: {metrics_seconds: 0.5, evaluate_seconds: 2, evaluate_episodes: 10}
supervision: {silence_seconds: 0}
)";

TEST_CASE("device placement is learned over real processes, compared, and used",
          "[integration][placement]") {
  const std::string algorithm = GENERATE("impala", "ppo");
  INFO(algorithm);
  const TempDir folder;
  const std::string config = (folder / "c.yaml").string();
  const std::string run = (folder / "run").string();
  std::ofstream(config) << kConfig;
  const Outcome trained = pacml(
      {"train", config, "--run", run, "--decisions", "60000", "--set", "algorithm=" + algorithm});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const std::string out = (folder / "e.json").string();
  const Outcome compared =
      pacml({"eval", config, "--policy", run + ",heft,single", "--seeds", "20", "--out", out});
  INFO(compared.err);
  REQUIRE(compared.code == 0);
  const auto result = json::parse(text_of(out));
  CHECK(result["objective"] == "relative_runtime");
  CHECK(result["policies"][2]["relative_runtime"]["mean"] == 1);
  // A fifth faster than one device: rules that simulate nothing reach a quarter.
  CHECK(result["policies"][0]["relative_runtime"]["mean"].get<double>() < 0.9);

  // One policy for any number of devices, and for graphs that it has never seen.
  const auto graph = source_path("tests/golden/env/graphs/diamond/graph.txt").string();
  const Outcome placed = pacml({"place", graph, "--devices", "placeto:3", "--policy", run, "--out",
                                (folder / "p.json").string()});
  INFO(placed.err);
  REQUIRE(placed.code == 0);
  CHECK_THAT(placed.out, Catch::Contains(run));
}

}  // namespace
}  // namespace pacml::testing
