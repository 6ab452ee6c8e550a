#include "apps/run/run_summary.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"
#include "common/config/dump.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace pacml;
using namespace pacml::apps;
using testing::TempDir;
using namespace std::chrono_literals;

namespace {

struct SomeRun {
  TempDir folder;
  RunDirectory run;
  explicit SomeRun(const TrainConfig& config = {})
      : run(RunDirectory::create(folder / "a", dump_config(config))) {}
  [[nodiscard]] RunSummary summary() const { return summarise_run(run.path()); }
  void train() const {
    std::ofstream(run.metrics_file()) << "{}\n";
    std::ofstream(run.checkpoints() / "checkpoint-000000000001.safetensors") << "weights";
  }
};

}  // namespace

TEST_CASE("a run says what it is, and which settings differ from its task's defaults") {
  TrainConfig config;
  config.seed = 7;
  config.impala.discount = 0.5;
  const SomeRun some(config);
  some.train();
  const RunSummary summary = some.summary();
  CHECK(summary.name == "a");
  CHECK(summary.task == "partitioning");
  CHECK(summary.algorithm == "impala");
  CHECK(summary.seed == "7");
  CHECK(summary.settings ==
        std::vector<ConfigDifference>{{"seed", "7", "0"}, {"impala.discount", "0.5", "0.997"}});
  CHECK(summary.notes.empty());
  CHECK(summary.state == RunState::kEnded);
  CHECK(summary.since_news.value() < 600s);
}

TEST_CASE("a run that has told nothing never began, and one that is held trains") {
  const SomeRun some;
  CHECK(some.summary().state == RunState::kNeverBegan);
  CHECK_THAT(some.summary().notes.at(0), Catch::Contains("no checkpoint"));
  some.train();
  CHECK(some.summary().state == RunState::kEnded);
  const RunLock lock(some.run);
  CHECK(some.summary().state == RunState::kTraining);
}

TEST_CASE("a list of runs does not ask a task in Python what it shows") {
  const SomeRun some;
  some.train();
  const std::string task = "env: {task: python, file: /nowhere/task.py, make: T}\n";
  std::ofstream(some.run.config_file()) << "seed: 3\n" + task;
  const RunSummary summary = some.summary();
  CHECK(summary.task == "python");
  CHECK(summary.notes.empty());
  CHECK(std::ranges::count(summary.settings, "env.make", &ConfigDifference::key) == 1);
  std::ofstream(some.run.config_file()) << "ppo: {discount: 7}\n" + task;
  CHECK_THAT(some.summary().notes.at(0), Catch::Contains("discount must be"));
}

TEST_CASE("a configuration of another version, or none at all, is told and hides nothing else") {
  const SomeRun some;
  some.train();
  std::ofstream(some.run.config_file()) << "seed: 3\nalgorithm: alphazero\nwarp: {speed: 9}\n";
  RunSummary summary = some.summary();
  CHECK(summary.algorithm == "alphazero");
  CHECK(summary.seed == "3");
  CHECK_THAT(summary.notes.at(0),
             Catch::Contains("another version of pacml") && Catch::Contains("warp"));
  CHECK(std::ranges::count(summary.settings, "warp.speed", &ConfigDifference::key) == 1);
  std::ofstream(some.run.config_file()) << "";
  summary = some.summary();
  CHECK(summary.notes.size() == 1);
  CHECK(summary.settings.empty());
  CHECK_THROWS_AS(summarise_run(some.folder / "nowhere"), UserError);
}

TEST_CASE("figures say by how much the best policy is better than the best baseline") {
  auto line = nlohmann::json::parse(
      R"({"decisions": 5, "evaluation": {"objective": "cost", "better": "lower", "best": 0.3,
          "baseline": {"name": "rule", "score": 0.4}}})");
  RunFigures figures = figures_of(line);
  CHECK(figures.evaluation.objective == "cost");
  CHECK(figures.evaluation.baseline == "rule");
  CHECK(figures.evaluation.gain().value() == Approx(0.25));
  line["evaluation"]["better"] = "higher";
  CHECK(figures_of(line).evaluation.gain().value() == Approx(-0.25));
  line["evaluation"]["best"] = nullptr;
  CHECK_FALSE(figures_of(line).evaluation.gain());
  figures = figures_of(nlohmann::json::parse(R"({"decisions": "x", "evaluation": 3})"));
  CHECK_FALSE(figures.decisions);
  CHECK(figures.evaluation.objective.empty());
}

TEST_CASE("runs are found below a folder, and not within one another") {
  const TempDir folder;
  for (const char* name : {"b", "a", "deep/er/c", "a/inside"}) {
    static_cast<void>(RunDirectory::create(folder / name, "seed: 1\n"));
  }
  std::ofstream(folder / "file") << "no folder";
  const auto found = find_runs(folder.path());
  CHECK(found.runs ==
        std::vector<std::filesystem::path>{folder / "a", folder / "b", folder / "deep/er/c"});
  CHECK(found.remains.empty());
  CHECK(find_runs(folder.path(), 1).runs.size() == 2);
  CHECK(found.are_all);
  CHECK(find_runs(folder.path(), 3, 2).runs.size() == 2);
  CHECK_FALSE(find_runs(folder.path(), 3, 2).are_all);
  CHECK(find_runs(folder / "a").runs == std::vector<std::filesystem::path>{folder / "a"});
  CHECK_THROWS_AS(find_runs(folder / "file"), UserError);
}

TEST_CASE("what is left of a run without its configuration is found, too") {
  const TempDir folder;
  for (const char* name : {"a", "b"}) {
    static_cast<void>(RunDirectory::create(folder / name, "seed: 1\n"));
  }
  std::filesystem::remove(folder / "a/config.yaml");
  const auto found = find_runs(folder.path());
  CHECK(found.runs == std::vector<std::filesystem::path>{folder / "b"});
  CHECK(found.remains == std::vector<std::filesystem::path>{folder / "a"});
  // Not where runs are below.
  std::ofstream(folder / "metrics.jsonl") << "{}\n";
  CHECK(find_runs(folder.path()).runs == found.runs);
  CHECK(find_runs(folder.path()).remains == found.remains);
}

TEST_CASE("metrics that cannot be read are told of") {
  const SomeRun some;
  some.train();
  const auto write = [&](const std::string& text) {
    std::ofstream(some.run.metrics_file()) << text;
  };
  const auto notes = [&] { return read_end_of_metrics(some.run.metrics_file()).wrong; };
  using Notes = std::vector<std::string>;
  write("{\"decisions\": 1}\nnonsense\n\n{\"decisions\": 2}\n{\"decis");
  CHECK(notes() ==
        Notes{"2 lines of metrics.jsonl cannot be read", "metrics.jsonl ends within a line"});
  CHECK(newest_metrics(some.run.metrics_file())["decisions"] == 2);
  write("");
  CHECK(notes() == Notes{"metrics.jsonl tells nothing"});
  write(std::string(1 << 19, 'x') + "\n{\"decisions\": 3}\n");
  CHECK(notes().empty());  // only its end is looked at
  CHECK(newest_metrics(some.run.metrics_file())["decisions"] == 3);
}

TEST_CASE("ages are told in the unit that suits them") {
  CHECK(age_text(1s) == "now");
  CHECK(age_text(119s) == "119 s");
  CHECK(age_text(120s) == "2 min");
  CHECK(age_text(3h) == "3 h");
  CHECK(age_text(72h) == "3 d");
}
