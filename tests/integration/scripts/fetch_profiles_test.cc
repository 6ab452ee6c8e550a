// scripts/fetch_profiles, out of a repository that stands in for PipeDream's.

#include <filesystem>
#include <string>
#include <vector>

#include "common/atomic_file.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;

// A repository of these files, each with a line that no profile has.
void make_repository(const fs::path& folder, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    fs::create_directories((folder / file).parent_path());
    REQUIRE(write_file_atomically(folder / file, "not a profile\n"));
  }
  const std::vector<std::string> git = {"git",
                                        "-C",
                                        folder.string(),
                                        "-c",
                                        "user.name=test",
                                        "-c",
                                        "user.email=test@example.com",
                                        "-c",
                                        "commit.gpgsign=false"};
  for (const std::vector<std::string>& words : {std::vector<std::string>{"init", "--quiet"},
                                                {"add", "."},
                                                {"commit", "--quiet", "-m", "files"}}) {
    std::vector<std::string> command = git;
    command.insert(command.end(), words.begin(), words.end());
    const auto outcome = testing::run(command);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
  }
}

testing::Outcome fetch(const fs::path& repository, const fs::path& into) {
  return testing::run({testing::source_path("scripts/fetch_profiles").string(), into.string(),
                       "--from", "file://" + repository.string()});
}

TEST_CASE("profiles that are not those of the figures are refused, and nothing is written",
          "[integration][scripts]") {
  const testing::TempDir temporary;
  const fs::path repository = temporary / "repository";
  const fs::path into = temporary / "profiles";
  const std::string alexnet = "profiler/image_classification/profiles/alexnet/graph.txt";
  SECTION("other bytes") {
    make_repository(repository, {alexnet});
    const auto outcome = fetch(repository, into);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err,
               Catch::EndsWith("fetch_profiles: " + alexnet + " of file://" + repository.string() +
                               " is not the one that the figures are of\n"));
  }
  SECTION("a repository without them") {
    make_repository(repository, {"README"});
    const auto outcome = fetch(repository, into);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, Catch::EndsWith(" has no " + alexnet + "\n"));
  }
  SECTION("no repository") {
    const auto outcome = fetch(repository, into);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, Catch::EndsWith("fetch_profiles: cannot fetch file://" +
                                            repository.string() + "\n"));
  }
  CHECK_FALSE(fs::exists(into));
}

TEST_CASE("a repository's folder is where the user is, not where the script is",
          "[integration][scripts]") {
  const testing::TempDir temporary;
  make_repository(temporary / "repository", {"README"});
  const auto outcome = testing::run({"env", "--chdir=" + temporary.path().string(),
                                     testing::source_path("scripts/fetch_profiles").string(),
                                     "profiles", "--from", "repository"});
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, Catch::EndsWith("/repository has no profiler/image_classification/"
                                          "profiles/alexnet/graph.txt\n"));
}

TEST_CASE("profiles are fetched into no folder that holds something", "[integration][scripts]") {
  const testing::TempDir temporary;
  REQUIRE(write_file_atomically(temporary / "mine", "kept\n"));
  const auto outcome = fetch(temporary / "repository", temporary.path());
  CHECK(outcome.code == 2);
  CHECK(outcome.err ==
        "fetch_profiles: " + temporary.path().string() + " is there and not empty\n");
}

}  // namespace
}  // namespace pacml
