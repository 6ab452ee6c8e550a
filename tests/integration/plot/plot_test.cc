// scripts/plot: runs and comparisons as pictures.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/program.h"
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
    WARN("skipped: /usr/bin/python3 has no matplotlib (package python3-matplotlib)");
    return;
  }
  const TempDir folder;
  write_run(folder / "seed0", 0);
  write_run(folder / "seed1", 1);
  // A line that is being written, and one that is none.
  std::ofstream(folder / "seed1/metrics.jsonl", std::ios::app) << "garbage\n{\"decisions\": 21";
  std::ofstream(folder / "beta_a.json") << kComparison;
  const Outcome outcome =
      plot({(folder / "seed0").string(), (folder / "seed1").string(),
            (folder / "beta_a.json").string(), "--out", (folder / "out").string()});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.err, Catch::Contains("2 lines of metrics.jsonl cannot be read"));
  check_pictures(folder / "out", "learning");
  check_pictures(folder / "out", "comparison");
}

TEST_CASE("what cannot be drawn is one sentence and exit code 2", "[integration][plot]") {
  const TempDir folder;
  fs::create_directories(folder / "empty");
  fs::create_directories(folder / "young");
  std::ofstream(folder / "young/config.yaml") << "seed: 1\n";
  std::ofstream(folder / "young/metrics.jsonl") << "";
  std::ofstream(folder / "other.json") << R"({"objective": "cost"})";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"empty", "holds no run"},
      {"young", "nothing has been measured yet"},
      {"other.json", "is no comparison"},
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
