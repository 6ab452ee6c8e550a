// scripts/reproduce, reproduce_policies and reproduce_placement: from nothing to tables and
// pictures.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/pacml_process.h"
#include "tests/support/program.h"
#include "tests/support/script_file.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using testing::Outcome;
using testing::TempDir;
using testing::text_of;

// Trainings so short that they teach nothing, and two episodes a figure.
std::vector<std::string> script_words(const std::string& script,
                                      const std::vector<std::string>& figures,
                                      const fs::path& folder) {
  std::vector<std::string> words = {"/usr/bin/python3",
                                    testing::source_path("scripts/" + script).string()};
  words.insert(words.end(), figures.begin(), figures.end());
  words.insert(words.end(), {"--minutes", "0.01", "--seeds", "2", "--out", folder.string()});
  return words;
}

Outcome make(const std::string& script, const std::vector<std::string>& figures,
             const fs::path& folder, const std::string& program = testing::pacml_path()) {
  return testing::run(script_words(script, figures, folder), {{"PACML", program}});
}

std::size_t rows_of(const fs::path& table) {
  const std::string text = text_of(table);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::size_t times_in(const std::string& text, const std::string& words) {
  std::size_t times = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++times;
  return times;
}

TEST_CASE("figures are made, kept, and made anew where they are missing", "[integration][plot]") {
  const TempDir folder;
  const Outcome first = make("reproduce", {"degree", "unseen"}, folder.path());
  INFO(first.err << first.out);
  REQUIRE(first.code == 0);
  CHECK_THAT(first.out, Catch::Contains("5 of 5: unseen/unseen.json"));
  CHECK(rows_of(folder / "degree/table.md") == 2 + 2 * 5 * 6);  // units, models and degrees
  CHECK(rows_of(folder / "unseen/table.md") == 2 + 2);
  CHECK_THAT(text_of(folder / "unseen/table.md"), Catch::Contains("unseen: gnmt, squeezenet1_0"));

  // The sibling finds what there is, and trains what it lacks.
  const Outcome sibling =
      make("reproduce_policies", {"settings", "models", "sizes"}, folder.path());
  INFO(sibling.err << sibling.out);
  REQUIRE(sibling.code == 0);
  CHECK(rows_of(folder / "elsewhere_settings/table.md") == 2 + 6 + 2);  // trained; rules
  CHECK(rows_of(folder / "elsewhere_models/table.md") == 2 + 2 + 2);
  CHECK(rows_of(folder / "elsewhere_sizes/table.md") == 2 + 2 + 2);
  CHECK(times_in(sibling.out, "training cluster_a for") == 1);  // which two figures need

  fs::remove(folder / "degree/paper.json");
  const Outcome again = make("reproduce", {"degree", "unseen"}, folder.path());
  CHECK(again.code == 0);
  CHECK_THAT(again.out, Catch::StartsWith("4 of 5 results are there\n1 of 1: degree/paper.json\n"));
  CHECK_THAT(again.out, Catch::Contains(text_of(folder / "unseen/table.md")));

  // What was trained by another command is put aside, and what was told of it is told anew.
  const fs::path command = folder / "runs/unseen/trained.command";
  const std::string said = text_of(command);
  std::ofstream(command) << "pacml train something else\n";
  std::ofstream(folder / "runs/unseen.begun") << "pacml train something else\n";
  const Outcome other = make("reproduce", {"degree", "unseen"}, folder.path());
  INFO(other.err << other.out);
  CHECK(other.code == 0);
  CHECK_THAT(other.out, Catch::StartsWith("2 of 5 results are there\n1 of 3: training unseen") &&
                            Catch::Contains("unseen was trained otherwise: now ") &&
                            Catch::Contains("3 of 3: unseen/unseen.json"));
  CHECK(text_of(command) == said);
  CHECK(fs::exists(folder / "runs/unseen.former-1/trained"));

  // As when it was interrupted between the training and what is told of it.
  const fs::path results = folder / "unseen/unseen.json";
  fs::last_write_time(
      results, fs::last_write_time(folder / "runs/unseen/trained") - std::chrono::seconds(1));
  const Outcome interrupted = make("reproduce", {"degree", "unseen"}, folder.path());
  CHECK(interrupted.code == 0);
  CHECK_THAT(interrupted.out,
             Catch::StartsWith("4 of 5 results are there\n1 of 1: unseen/unseen.json\n"));
}

TEST_CASE("what teaches to place fastest is found out", "[integration][plot]") {
  const TempDir folder;
  const Outcome made = testing::run(
      {"/usr/bin/python3", testing::source_path("scripts/reproduce_placement").string(), "rewards",
       "--decisions", "3000", "--out", folder.path().string()},
      {{"PACML", testing::pacml_path()}});
  INFO(made.err << made.out);
  REQUIRE(made.code == 0);
  CHECK_THAT(made.out, Catch::Contains("8 of 8: placement_rewards/published.json"));
  CHECK(rows_of(folder / "placement_rewards/table.md") == 2 + 2 * 3);  // networks and rewards
  CHECK_THAT(text_of(folder / "placement_rewards/table.md"),
             Catch::Contains("| candidates, PPO | terminal |"));

  const Outcome refused = testing::run(
      {"/usr/bin/python3", testing::source_path("scripts/reproduce_placement").string(), "alone",
       "--decisions", "0", "--out", folder.path().string()});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("alone: nothing has been trained"));
}

TEST_CASE("what is interrupted goes on, and what a program refuses is told",
          "[integration][plot]") {
  const TempDir folder;
  testing::Program interrupted(script_words("reproduce", {"units"}, folder.path()),
                               {{"PACML", testing::pacml_path()}});
  testing::wait_until("something is kept",
                      [&] { return interrupted.out().find("2 of 4: ") != std::string::npos; });
  interrupted.signal(SIGINT);
  CHECK(interrupted.end() == 130);
  CHECK_THAT(interrupted.err(), Catch::Contains("the same command goes on from here"));
  const Outcome outcome = make("reproduce", {"units"}, folder.path());
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains(" of 4 results are there\n"));
  CHECK(rows_of(folder / "units/table.md") == 2 + 4);

  // A path is seen from where the user is.
  const fs::path from_here = fs::path("/bin/false").lexically_relative(fs::current_path());
  const Outcome refused = make("reproduce", {"load"}, folder.path(), from_here.string());
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("this ended with 1: /bin/false eval"));
  const Outcome missing = make("reproduce", {"load"}, folder.path(), "/nowhere/pacml");
  CHECK(missing.code == 2);
  CHECK_THAT(missing.err, Catch::Contains("scripts/build makes it"));
}

TEST_CASE("an interrupted training goes on for what is left of its minutes",
          "[integration][plot]") {
  const TempDir folder;
  const std::string program = (folder / "pacml").string();
  testing::write_script(program, R"(#!/bin/sh
while [ "$1" != --run ]; do shift; done
mkdir -p "$2"
printf '{"seconds": 0.1}\n{"seconds": 0.3}\n{"seconds": 0.4' > "$2/metrics.jsonl"
exit 1
)");
  const Outcome first = make("reproduce", {"unseen"}, folder.path(), program);
  CHECK(first.code == 2);
  CHECK_THAT(first.err, Catch::Contains("--minutes 0.01 --continue"));
  for (int life = 2; life <= 3; ++life) {
    const Outcome later = make("reproduce", {"unseen"}, folder.path(), program);
    CHECK(later.code == 2);
    CHECK_THAT(later.err, Catch::Contains("--minutes 0.005 --continue"));
  }
  // It is the same training all the time.
  CHECK_THAT(text_of(folder / "runs/unseen.begun"), Catch::Contains("--minutes 0.01 --continue"));
  CHECK_FALSE(fs::exists(folder / "runs/unseen.former-1"));
}

TEST_CASE("figures of tables are shown without the zero before the point, and no other",
          "[integration][plot]") {
  const std::string said =
      "import sys; sys.path.insert(0, sys.argv[1]); from reproduction import cell, rounded; "
      "print(rounded(0.0714, 3), rounded(10.0714, 3), rounded(-0.5, 1), cell(20.5, 0.25))";
  const Outcome shown = testing::run(
      {"/usr/bin/python3", "-B", "-c", said, testing::source_path("scripts").string()});
  INFO(shown.err);
  CHECK(shown.out == ".071 10.071 -.5 20.5000 ± .2500\n");
}

TEST_CASE("the runs among policies are known, whatever stands behind them", "[integration][plot]") {
  const std::string said =
      "import sys; sys.path.insert(0, sys.argv[1]); import reproduction; "
      "print(*sorted(map(str, reproduction.Study.runs_read(sys.argv[2:]))))";
  const Outcome found =
      testing::run({"/usr/bin/python3", "-B", "-c", said, testing::source_path("scripts").string(),
                    "eval", "r/x,r/x+refine:9,r/x_1,r/x_1+search+refine,a+b/y+sample,heft"});
  INFO(found.err);
  CHECK(found.out ==
        "a a+b/y a+b/y+sample eval heft r/x r/x+refine:9 r/x_1 r/x_1+search "
        "r/x_1+search+refine\n");
}

}  // namespace
}  // namespace pacml
