// scripts/plot: runs and comparisons as pictures.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/program.h"
#include "tests/support/source_path.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using testing::Outcome;
using testing::TempDir;
using testing::text_of;

Outcome plot(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"/usr/bin/python3",
                                  testing::source_path("scripts/plot").string()};
  all.insert(all.end(), words.begin(), words.end());
  return testing::run(all);
}

bool has_matplotlib() {
  return testing::run({"/usr/bin/python3", "-c", "import matplotlib"}).code == 0;
}

// A run of that seed whose objective falls with its decisions.
void write_run(const fs::path& path, int seed) {
  fs::create_directories(path);
  std::ofstream(path / "config.yaml") << "seed: " << seed << "\nalgorithm: impala\n";
  std::ofstream metrics(path / "metrics.jsonl");
  for (int i = 1; i <= 20; ++i) {
    const double score = 0.2 + 1.0 / (i + seed);
    metrics << R"({"decisions": )" << 1000 * i << R"(, "episode": {"cost": )" << score + 0.01
            << R"(}, "evaluation": {"objective": "cost", "better": "lower", "score": )" << score
            << R"(, "best": )" << score << R"(, "baseline": {"name": "rule", "score": 0.3}}})"
            << "\n";
  }
}

// A decision that was kept or not, about a job of that limit, on two servers.
std::string decision(double now, bool kept, double limit) {
  std::ostringstream text;
  text << R"({"now": )" << now << R"(, "facts": [["model", "m"], ["time on one server", "100", 100],
      ["must be done in", "x", )"
       << 100 * limit << R"(]], "grids": [{"items": [-1, )" << (kept ? 0 : -1)
       << R"(, -2]}], "outcome": {"kept": )" << (kept ? "true" : "false")
       << R"(, "item": {"begins": )" << now << R"(, "ends": )" << (kept ? now + 40 : now) << "}}}";
  return text.str();
}

std::string episode(const std::string& policy) {
  return R"({"policy": ")" + policy + R"(", "task": "t", "decisions": [)" + decision(0, true, 0.5) +
         ", " + decision(10, false, 0.3) + ", " +
         R"({"now": 20, "facts": [], "grids": [{"items": [0, 0, -2]}]}]})";
}

constexpr const char* kLoad =
    R"({"load_impala_1_actors": {"learned_decisions_per_second": 100, "policy_lag_p50": 2,
                                 "most_to_fewest": 1, "machine": {}},
        "load_impala_8_actors": {"learned_decisions_per_second": 200},
        "load_impala_9_actors": {"decisions_per_second": 220},
        "load_apex_8_actors_1_shards": {"decisions_per_second": 300},
        "load_apex_8_actors_2_shards": {"decisions_per_second": 400},
        "scaling_4_actors": {"decisions_per_second": 10, "efficiency": 0.9}})";

constexpr const char* kComparison =
    R"({"objective": "cost", "policies": [{"name": "a", "cost": {"mean": 0.2, "ci95": 0.01}},
        {"name": "b", "cost": {"mean": 0.3, "ci95": null}}]})";

void check_pictures(const fs::path& folder, const std::string& name) {
  CHECK_THAT(text_of(folder / (name + ".png")), Catch::StartsWith("\x89PNG"));
  CHECK_THAT(text_of(folder / (name + ".svg")), Catch::Contains("</svg>"));
  CHECK(fs::file_size(folder / (name + ".png")) > 5'000);
}

TEST_CASE("runs and comparisons become pictures", "[integration][plot]") {
  if (!has_matplotlib()) {
    WARN("this test is skipped: /usr/bin/python3 has no matplotlib (package python3-matplotlib)");
    return;
  }
  const TempDir folder;
  write_run(folder / "seed0", 0);
  write_run(folder / "seed1", 1);
  // A line that is being written, and one that is none.
  std::ofstream(folder / "seed1/metrics.jsonl", std::ios::app) << "garbage\n{\"decisions\": 21";
  std::ofstream(folder / "beta_a.json") << kComparison;
  std::ofstream(folder / "mine.json") << episode("mine");
  std::ofstream(folder / "rule.json") << episode("rule");
  std::ofstream(folder / "load.json") << kLoad;
  std::vector<std::string> words;
  for (const char* name :
       {"seed0", "seed1", "beta_a.json", "mine.json", "rule.json", "load.json"}) {
    words.push_back((folder / name).string());
  }
  words.insert(words.end(), {"--out", (folder / "out").string()});
  const Outcome outcome = plot(words);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.err, Catch::Contains("2 lines of metrics.jsonl cannot be read"));
  check_pictures(folder / "out", "learning");
  check_pictures(folder / "out", "comparison");
  check_pictures(folder / "out", "jobs");
  check_pictures(folder / "out", "load");
  CHECK_FALSE(fs::exists(folder / "out/progress.png"));  // these runs tell nothing of it
}

TEST_CASE("what was told behind the checkpoint that a run goes on from is not drawn",
          "[integration][plot]") {
  const TempDir folder;
  write_run(folder / "run", 0);
  std::ofstream(folder / "run/metrics.jsonl", std::ios::app)
      << R"({"decisions": 10500, "evaluation": {"objective": "cost", "score": 0.5}})"
      << "\n";
  const std::string script = "import sys, pathlib\nsys.path.insert(0, '" +
                             testing::source_path("scripts").string() +
                             "')\nfrom pictures.runs import Run\nheld_out = Run(pathlib.Path('" +
                             (folder / "run").string() +
                             "')).held_out\nprint(len(held_out), held_out[-2][0], held_out[-1])\n";
  const Outcome outcome = testing::run({"/usr/bin/python3", "-c", script});
  INFO(outcome.err);
  CHECK(outcome.out == "11 10000 (10500, 0.5)\n");
}

TEST_CASE("what becomes of jobs is read out of an episode", "[integration][plot]") {
  const TempDir folder;
  std::ofstream(folder / "mine.json") << episode("mine");
  const Outcome outcome =
      testing::run({"/usr/bin/python3", "-B", "-c",
                    "import json, pathlib, sys\n"
                    "sys.path.insert(0, sys.argv[1])\n"
                    "from pictures import jobs\n"
                    "path = pathlib.Path(sys.argv[2])\n"
                    "e = jobs.Episode(path, json.loads(path.read_text()))\n"
                    "print(e.policy, e.done, e.times, e.used, e.limits)",
                    testing::source_path("scripts").string(), (folder / "mine.json").string()});
  INFO(outcome.err);
  CHECK(outcome.out == "mine [40] [0, 10, 20] [0.5, 0.0, 1.0] {True: [0.5], False: [0.3]}\n");
}

TEST_CASE("a rule that is searched from is drawn as a rule, a run's policy as learned",
          "[integration][plot]") {
  const TempDir folder;
  std::ofstream(folder / "c.json") << R"({"objective": "cost", "policies": [
      {"name": "rule:8+search:K=4", "learned": false, "cost": {"mean": 1}},
      {"name": "first+search", "learned": true, "cost": {"mean": 2}},
      {"name": "rule:8+search:K=4", "cost": {"mean": 3}},
      {"name": "runs/a+sample", "cost": {"mean": 4}},
      {"name": "p.safetensors", "cost": {"mean": 5}}]})";
  const Outcome outcome =
      testing::run({"/usr/bin/python3", "-B", "-c",
                    "import json, pathlib, sys\n"
                    "sys.path.insert(0, sys.argv[1])\n"
                    "from pictures import comparison\n"
                    "path = pathlib.Path(sys.argv[2])\n"
                    "rows = comparison.Comparison(path, json.loads(path.read_text())).rows\n"
                    "print([mean for _, mean, _, learned in rows if learned])",
                    testing::source_path("scripts").string(), (folder / "c.json").string()});
  INFO(outcome.err);
  CHECK(outcome.out == "[2, 4, 5]\n");
}

TEST_CASE("loads are told apart by the number of shards", "[integration][plot]") {
  const TempDir folder;
  std::ofstream(folder / "load.json") << kLoad;
  const Outcome outcome = testing::run(
      {"/usr/bin/python3", "-B", "-c",
       "import json, pathlib, sys\n"
       "sys.path.insert(0, sys.argv[1])\n"
       "from pictures import load\n"
       "path = pathlib.Path(sys.argv[2])\n"
       "print(list(load.Load(path, json.loads(path.read_text())).curves('load', load.YIELD)))",
       testing::source_path("scripts").string(), (folder / "load.json").string()});
  INFO(outcome.err);
  CHECK(outcome.out ==
        "[('load', [(1, 100), (8, 200), (9, 220)]), ('load, 1 shard', [(8, 300)]), "
        "('load, 2 shards', [(8, 400)])]\n");
}

TEST_CASE("what cannot be drawn is one sentence and exit code 2", "[integration][plot]") {
  const TempDir folder;
  fs::create_directories(folder / "empty");
  fs::create_directories(folder / "young");
  std::ofstream(folder / "young/config.yaml") << "seed: 1\n";
  std::ofstream(folder / "young/metrics.jsonl") << "";
  std::ofstream(folder / "other.json") << R"({"objective": "cost"})";
  std::ofstream(folder / "strange.json") << R"([1, 2])";
  std::ofstream(folder / "broken.json") << R"({"decisions": )";
  std::ofstream(folder / "odd.json") << R"({"decisions": [{"now": 1}]})";
  std::ofstream(folder / "bare.json") << R"({"decisions": [{"now": 1, "facts": [], "grids": []}]})";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"empty", "holds no run"},
      {"young", "nothing has been measured yet"},
      {"other.json", "is no comparison"},
      {"strange.json", "is nothing that"},
      {"broken.json", "is no JSON"},
      {"odd.json", "is no episode"},
      {"bare.json", "shows neither jobs nor places"},
      {"none.json", "cannot be read"}};
  for (const auto& [name, sentence] : wrong) {
    const Outcome outcome = plot({(folder / name).string(), "--out", (folder / "out").string()});
    INFO(name << ": " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, Catch::Contains(sentence));
  }
  CHECK_FALSE(fs::exists(folder / "out"));
}

}  // namespace
}  // namespace pacml
