#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/judged_training.h"
#include "tests/support/pacml_process.h"

// Device placement over real processes.

namespace pacml::testing {
namespace {

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
  const JudgedTraining training(kConfig, algorithm, 60000, "heft,single");
  CHECK(training.objective() == "relative_runtime");
  CHECK(training.mean(2) == 1);
  // A fifth faster than one device: rules that simulate nothing reach a quarter.
  CHECK(training.mean(0) < 0.9);

  // One policy for any number of devices, and for graphs that it has never seen.
  const auto graph = source_path("tests/golden/env/graphs/diamond/graph.txt").string();
  const Outcome placed = pacml({"place", graph, "--devices", "placeto:3", "--policy", training.run,
                                "--search", "20", "--out", (training.folder / "p.json").string()});
  INFO(placed.err);
  REQUIRE(placed.code == 0);
  CHECK_THAT(placed.out, Catch::Contains(training.run));
  CHECK_THAT(placed.out, Catch::Contains(training.run + " + search"));

  // Each of its problems once, and what a search makes of it.
  const std::string searched = training.run + "+refine";
  const Outcome each =
      pacml({"eval", (training.folder / "c.yaml").string(), "--problems", "--policy",
             training.run + "," + searched, "--out", (training.folder / "e.json").string()});
  INFO(each.err);
  REQUIRE(each.code == 0);
  const auto result = nlohmann::json::parse(text_of(training.folder / "e.json"));
  CHECK(result["policies"][0]["seeds"].size() == 4);
  CHECK(result["policies"][1]["name"] == searched);
  CHECK(result["policies"][1]["relative_runtime"]["mean"] <=
        result["policies"][0]["relative_runtime"]["mean"]);
}

}  // namespace
}  // namespace pacml::testing
