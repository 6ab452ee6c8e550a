#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/exit_codes.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/pacml_process.h"
#include "tests/support/temp_dir.h"

// The task python over real processes (docs/python.md).

namespace pacml::testing {
namespace {

using nlohmann::json;

const std::string kConfig = "docs/examples/python/corridor.yaml";

// The words of a command about the example, from wherever the test runs.
std::vector<std::string> on_corridor(std::vector<std::string> words) {
  words.insert(words.begin() + 1, source_path(kConfig).string());
  for (const auto& setting :
       {"env.file=" + source_path("docs/examples/python/corridor.py").string(),
        std::string("env.interpreter=/usr/bin/python3"),
        std::string("supervision.silence_seconds=0")}) {
    words.insert(words.end(), {"--set", setting});
  }
  return words;
}

// A training whose policy is judged: with actors of their own, how far it comes is up to how busy
// the machine is, and one in some dozens came to nothing.
std::vector<std::string> learning_of(const std::string& run) {
  return {"train", "--run", run, "--decisions", "150000", "--deterministic"};
}

TEST_CASE("a task in Python is trained, evaluated, searched and exported",
          "[integration][python]") {
  const TempDir folder;
  const std::string run = (folder / "run").string();
  const Outcome trained = pacml(on_corridor(learning_of(run)));
  INFO(trained.err);
  REQUIRE(trained.code == 0);

  const Outcome judged =
      pacml(on_corridor({"eval", "--policy", run + "," + run + "+search:K=4,H=5,baselines",
                         "--seeds", "5", "--out", (folder / "e.json").string()}));
  INFO(judged.err);
  REQUIRE(judged.code == 0);
  const auto result = json::parse(text_of(folder / "e.json"));
  CHECK(result["objective"] == "steps");
  double trained_steps = 0;
  double constant_steps = 0;
  for (const auto& policy : result["policies"]) {
    const std::string name = policy["name"];
    if (name == run) trained_steps = policy["steps"]["mean"];
    if (name.starts_with("best_constant")) constant_steps = policy["steps"]["mean"];
  }
  // Half of the walks end at the left and half at the right: no constant leaves them all.
  CHECK(trained_steps > 0);
  CHECK(trained_steps < constant_steps);

  CHECK(pacml({"explain", run, "--decision", "1"}).code == 0);
  const Outcome exported =
      pacml({"export", run, "--format", "safetensors", "--out", (folder / "p").string()});
  INFO(exported.err);
  CHECK(exported.code == 0);
}

TEST_CASE("several agents in Python are trained, and do better together than alone",
          "[integration][python]") {
  const TempDir folder;
  const std::string run = (folder / "run").string();
  const auto on_porters = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, source_path("docs/examples/python/porters.yaml").string());
    words.insert(words.end(),
                 {"--set", "env.file=" + source_path("docs/examples/python/porters.py").string(),
                  "--set", "env.interpreter=/usr/bin/python3"});
    return words;
  };
  const Outcome trained = pacml(on_porters(learning_of(run)));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const Outcome judged = pacml(on_porters(
      {"eval", "--policy", run + ",baselines", "--seeds", "5", "--out", (folder / "e").string()}));
  INFO(judged.err);
  REQUIRE(judged.code == 0);
  const json compared = json::parse(text_of(folder / "e"));
  for (const auto& policy : compared["policies"]) {
    const std::string name = policy["name"];
    INFO(name);
    // Who carries only what is theirs needs 2 hand-overs of half an hour at most: 20 to 40 hours.
    if (name == run) CHECK(policy["hours"]["mean"] < 40);
    if (name.starts_with("best_constant")) CHECK(policy["hours"]["mean"] > 50);
  }
}

TEST_CASE("a run is not gone on with when its environment in Python has changed",
          "[integration][python]") {
  const TempDir folder;
  const std::string run = (folder / "run").string();
  const std::string file = (folder / "corridor.py").string();
  std::filesystem::copy_file(source_path("docs/examples/python/corridor.py"), file);
  const auto train = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"train", "--run", run};
    words.insert(words.end(), more.begin(), more.end());
    words = on_corridor(words);
    words.insert(words.end(), {"--set", "env.file=" + file});
    return pacml(words);
  };
  const Outcome trained = train({"--decisions", "2000"});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  CHECK(train({"--resume", "--decisions", "4000"}).code == 0);
  std::ofstream(file, std::ios::app) << "\n# other rewards\n";
  const Outcome changed = train({"--resume", "--decisions", "6000"});
  CHECK(changed.code == 2);
  CHECK_THAT(changed.err, Catch::Contains("what env.file names has changed since"));
}

TEST_CASE("an exception in Python ends a run with its sentence", "[integration][python]") {
  const TempDir folder;
  const std::string file = (folder / "task.py").string();
  std::ofstream(file) << "class T:\n    globals = ['x']\n    actions = 2\n"
                         "    def reset(self, *, seed):\n        return [0.0], {}\n"
                         "    def step(self, action):\n        raise RuntimeError('no more')\n";
  auto words = on_corridor({"train", "--run", (folder / "run").string(), "--decisions", "1000"});
  words.insert(words.end(),
               {"--set", "env.file=" + file, "--set", "env.make=T", "--set", "env.settings={}"});
  const Outcome outcome = pacml(words);
  CHECK(outcome.code == 2);
  const std::string said = outcome.err + text_of(folder / "run" / "logs" / "actor-0.log");
  CHECK_THAT(said, Catch::Contains("task.py, T: step: RuntimeError: no more"));
  CHECK_THAT(said, Catch::Contains("Traceback (most recent call last)"));
}

TEST_CASE("a Python that ends while its task is asked what it is can be tried again",
          "[integration][python]") {
  const TempDir folder;
  const std::string file = (folder / "task.py").string();
  std::ofstream(file) << "import os\nos._exit(5)\n";
  auto words = on_corridor({"eval", "--policy", "random", "--seeds", "1"});
  words.insert(words.end(), {"--set", "env.file=" + file});
  const Outcome outcome = pacml(words);
  CHECK(outcome.code == kExitTryAgain);
  CHECK_THAT(outcome.err,
             Catch::Contains("the Python process of task.py, Corridor ended with code 5"));
}

}  // namespace
}  // namespace pacml::testing
