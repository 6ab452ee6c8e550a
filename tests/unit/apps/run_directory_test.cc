#include "apps/run/run_directory.h"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/result.h"
#include "common/try_again.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace pacml;
using namespace pacml::apps;
using testing::TempDir;
using testing::text_of;
namespace fs = std::filesystem;

TEST_CASE("a new run has its configuration and its folders") {
  const TempDir scratch;
  const auto run = RunDirectory::create(scratch.path() / "deep" / "run", "seed: 7\n");
  CHECK_THAT(text_of(run.config_file()), Catch::StartsWith("# ") && Catch::EndsWith("\nseed: 7\n"));
  CHECK(fs::is_directory(run.checkpoints()));
  CHECK(fs::is_directory(run.log_file("actor-3").parent_path()));
  CHECK(run.log_file("actor-3").filename() == "actor-3.log");
}

TEST_CASE("a folder that holds a run is not overwritten") {
  const TempDir scratch;
  (void)RunDirectory::create(scratch.path(), "seed: 7\n");
  CHECK_THROWS_WITH(RunDirectory::create(scratch.path(), "seed: 8\n"),
                    Catch::Contains("already holds a run") && Catch::Contains("--resume"));
  CHECK_THAT(text_of(scratch.path() / "config.yaml"), Catch::Contains("seed: 7"));
  CHECK_NOTHROW(RunDirectory::open(scratch.path()));
}

TEST_CASE("what a run has learned is not begun over, whatever else of it is gone") {
  const TempDir folder;
  const fs::path path = folder / "r";
  const auto run = RunDirectory::create(path, "seed: 1\n");
  const std::vector<fs::path> files{run.checkpoints() / "checkpoint-000000000001.safetensors",
                                    run.checkpoints() / "best.safetensors"};
  for (const fs::path& file : files) std::ofstream(file) << "x";
  const auto refusal = [&path] {
    CHECK_THROWS_WITH(RunDirectory::refuse_existing(path),
                      path.string() +
                          " has checkpoints of a run whose config.yaml is missing: "
                          "name another folder");
    CHECK_THROWS_AS(RunDirectory::create(path, "seed: 2\n"), UserError);
  };
  run.abandon();
  refusal();
  fs::remove(files.front());
  refusal();
  // With its configuration.
  fs::remove(files.back());
  const auto again = RunDirectory::create(path, "seed: 2\n");
  std::ofstream(files.back()) << "x";
  CHECK_FALSE(RunDirectory::resume_or_clear(path));
  CHECK(fs::exists(again.config_file()));
  CHECK_THROWS_WITH(RunDirectory::refuse_existing(path),
                    path.string() +
                        " holds a run that has lost its checkpoints, but not its best "
                        "policy: name another folder");
}

TEST_CASE("a run's own files are not written as something else") {
  const TempDir folder;
  const auto run = RunDirectory::create(folder / "r", "seed: 1\n");
  const auto refused = [](const fs::path& file, Writes writes) {
    CHECK_THROWS_WITH(RunDirectory::refuse_own_file(file, writes),
                      file.string() + " is a run's own file; name another one");
  };
  for (const Writes writes : {Writes::kFile, Writes::kLog}) {
    refused(run.config_file(), writes);
    refused(run.metrics_file(), writes);
    refused(run.checkpoints() / "best.safetensors", writes);
    CHECK_NOTHROW(RunDirectory::refuse_own_file(run.path() / "mine.json", writes));
  }
  refused(run.log_file("actor-0"), Writes::kFile);
  CHECK_NOTHROW(RunDirectory::refuse_own_file(run.log_file("actor-0"), Writes::kLog));
  // Of a run that is not there yet.
  const fs::path next = folder / "next";
  for (const char* file : {"config.yaml", "tags", "metrics.jsonl", "checkpoints/x", "logs/a.log"}) {
    CHECK_THROWS_WITH(RunDirectory::refuse_file_in(next, next / file),
                      (next / file).string() +
                          " would be a file of the run's own; name another "
                          "one");
  }
  CHECK_THROWS_AS(RunDirectory::refuse_file_in(next / "", next / "config.yaml"), UserError);
  for (const fs::path& file : {next / "addresses", next / "mine" / "config.yaml",
                               folder / "config.yaml", folder / "next2" / "config.yaml"}) {
    CHECK_NOTHROW(RunDirectory::refuse_file_in(next, file));
  }
}

TEST_CASE("a run that is not there cannot be opened") {
  const TempDir scratch;
  CHECK_THROWS_AS(RunDirectory::open(scratch.path()), UserError);
  CHECK_THROWS_WITH(RunDirectory::open("/nowhere"),
                    "/nowhere holds no run: its config.yaml is missing");
}

TEST_CASE("a run that cannot be written is refused with the reason") {
  CHECK_THROWS_WITH(RunDirectory::create("/dev/null/run", ""), Catch::Contains("/dev/null/run"));
}

TEST_CASE("what starts again resumes a run that has a checkpoint, and clears one that has none") {
  const TempDir scratch;
  CHECK_FALSE(RunDirectory::resume_or_clear(scratch.path()));
  const auto run = RunDirectory::create(scratch.path(), "seed: 7\n");
  CHECK_FALSE(RunDirectory::resume_or_clear(scratch.path()));
  CHECK_NOTHROW(RunDirectory::create(scratch.path(), "seed: 7\n"));
  std::ofstream(run.checkpoints() / "checkpoint-000000000001.safetensors") << "weights";
  CHECK(RunDirectory::resume_or_clear(scratch.path()));
  CHECK_NOTHROW(RunDirectory::open(scratch.path()));
}

TEST_CASE("of several that make one run at once, one does") {
  const TempDir scratch;
  std::atomic<int> made = 0;
  const auto make = [&](int who) {
    try {
      static_cast<void>(
          RunDirectory::create(scratch / "run", "seed: " + std::to_string(who) + "\n"));
      ++made;
    } catch (const UserError&) {  // another one has
    }
  };
  {
    std::vector<std::jthread> several;
    for (int who = 0; who < 8; ++who) several.emplace_back(make, who);
  }
  CHECK(made == 1);
}

TEST_CASE("who has seen no checkpoint clears none") {
  const TempDir scratch;
  const auto run = RunDirectory::create(scratch.path(), "seed: 7\n");
  RunDirectory::clear_what_never_began(scratch.path());
  CHECK_FALSE(RunDirectory::holds_run(scratch.path()));
  const auto again = RunDirectory::create(scratch.path(), "seed: 7\n");
  std::ofstream(again.checkpoints() / "checkpoint-000000000001.safetensors") << "weights";
  CHECK_THROWS_AS(RunDirectory::clear_what_never_began(scratch.path()), TryAgainError);
  CHECK(RunDirectory::holds_run(scratch.path()));
}

TEST_CASE("what starts again clears neither somebody's own file nor a run that goes on") {
  const TempDir scratch;
  const auto file = scratch.path() / "config.yaml";
  SECTION("somebody's own file") {
    std::ofstream(file) << "seed: 7\n";
    CHECK_FALSE(RunDirectory::resume_or_clear(scratch.path()));
  }
  SECTION("a run that goes on") {
    const auto run = RunDirectory::create(scratch.path(), "seed: 7\n");
    const RunLock lock(run);
    CHECK_THROWS_WITH(RunDirectory::resume_or_clear(scratch.path()),
                      Catch::Contains("is training in"));
  }
  CHECK(std::filesystem::exists(file));
}

TEST_CASE("one process at a time trains in a run") {
  const TempDir scratch;
  const auto run = RunDirectory::create(scratch.path(), "");
  auto lock = std::make_unique<RunLock>(run);
  CHECK_THROWS_WITH(RunLock(run), Catch::Contains("process " + std::to_string(::getpid())));
  CHECK(RunLock::is_held(run.path()));
  lock.reset();
  CHECK_FALSE(RunLock::is_held(run.path()));
  CHECK_NOTHROW(RunLock(run));
}

TEST_CASE("who only asks whether a run is trained keeps nobody from training in it") {
  const TempDir scratch;
  const auto run = RunDirectory::create(scratch.path(), "");
  CHECK_FALSE(RunLock::is_held(run.path()));  // nobody has ever trained in it
  const std::jthread asks([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(RunLock::is_held(run.path()));
  });
  for (int i = 0; i < 1000; ++i) CHECK_NOTHROW(RunLock(run));
}

TEST_CASE("nothing and the root are no folders for a run") {
  for (const char* path : {"/", "/.", "/tmp/.."}) {
    INFO(path);
    CHECK_THROWS_WITH(RunDirectory::refuse_existing(path), "a run cannot be in / itself");
    CHECK_THROWS_AS(RunDirectory::create(path, "seed: 7\n"), UserError);
    CHECK_THROWS_AS(RunDirectory::open(path), UserError);
  }
  CHECK_THROWS_WITH(RunDirectory::refuse_existing(""), "the name of the run's folder is empty");
  CHECK_THROWS_AS(RunDirectory::create("", "seed: 7\n"), UserError);
}

TEST_CASE("whoever trains in a run removes what a killed predecessor was writing") {
  const TempDir scratch;
  const auto run = RunDirectory::create(scratch.path() / "run", "seed: 7\n");
  const fs::path left = run.checkpoints() / ".checkpoint-7.safetensors.pacml-abcdef";
  std::ofstream(left) << "half";
  const RunLock lock(run);
  CHECK_FALSE(fs::exists(left));
}

TEST_CASE("a run that was given up before it began can be begun again") {
  const TempDir scratch;
  RunDirectory::create(scratch.path() / "run", "seed: 7\n").abandon();
  CHECK_FALSE(RunDirectory::holds_run(scratch.path() / "run"));
  CHECK_NOTHROW(RunDirectory::create(scratch.path() / "run", "seed: 8\n"));
}

TEST_CASE("what a resumed run goes on with replaces its configuration") {
  const TempDir scratch;
  const auto run = RunDirectory::create(scratch.path() / "run", "seed: 7\n");
  run.record("seed: 8\n");
  CHECK_THAT(text_of(run.config_file()), Catch::StartsWith("# ") && Catch::EndsWith("\nseed: 8\n"));
}

TEST_CASE(
    "a configuration that is recorded already is not written again, for which there may be no "
    "room") {
  const TempDir scratch;
  const auto run = RunDirectory::create(scratch.path() / "run", "seed: 7\n");
  run.record("seed: 8\n");
  const fs::path same = scratch.path() / "same";
  fs::create_hard_link(run.config_file(), same);  // a file that is written is another one
  run.record("seed: 8\n");
  CHECK(fs::equivalent(run.config_file(), same));
  run.record("seed: 9\n");
  CHECK_FALSE(fs::equivalent(run.config_file(), same));
}
