#include "common/log.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "common/atomic_file.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

using testing::TempDir;

LogSetup quiet(const std::filesystem::path& file) {
  LogSetup setup;
  setup.role = "actor-3";
  setup.run_id = "run%1";
  setup.file = file;
  setup.to_stderr = false;
  return setup;
}

TEST_CASE("each line names the level, the role and the run, and is there at once", "[log]") {
  const TempDir folder;
  set_up_logging(quiet(folder / "log"));
  spdlog::info("hello {}", 7);
  const auto text = read_file(folder / "log");
  REQUIRE(text);
  REQUIRE_THAT(*text, Catch::EndsWith(" info  actor-3 run%1: hello 7\n"));
}

TEST_CASE("lines below the level are left out", "[log]") {
  const TempDir folder;
  LogSetup setup = quiet(folder / "log");
  setup.level = "warn";
  set_up_logging(setup);
  spdlog::info("too quiet");
  spdlog::warn("loud enough");
  REQUIRE_THAT(*read_file(folder / "log"),
               !Catch::Contains("too quiet") && Catch::Contains("loud enough"));
}

TEST_CASE("an unknown level names the nearest one", "[log]") {
  LogSetup setup;
  setup.level = "wran";
  REQUIRE_THROWS_WITH(set_up_logging(setup), "unknown log level 'wran'; did you mean 'warn'?");
}

TEST_CASE("a log file that cannot be opened is the user's to mend", "[log]") {
  const TempDir folder;
  REQUIRE(write_file_atomically(folder / "f", "not a folder"));
  REQUIRE_THROWS_AS(set_up_logging(quiet(folder / "f" / "log")), UserError);
  const auto pipe = folder / "pipe";  // which would hold up whoever opens it
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  REQUIRE_THROWS_WITH(set_up_logging(quiet(pipe)),
                      "cannot write the log " + pipe.string() + ": it is a pipe");
}

TEST_CASE("a log has a length, and so have the older ones that it leaves", "[log]") {
  const TempDir folder;
  LogSetup setup = quiet(folder / "x.log");
  setup.file_bytes = 1000;
  set_up_logging(setup);
  for (int line = 0; line < 200; ++line) spdlog::info("line {}", line);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    CHECK(entry.file_size() <= 1000);
    ++files;
  }
  CHECK(files == 4);
  CHECK_THAT(*read_file(folder / "x.log"), Catch::EndsWith("line 199\n"));
  CHECK_THAT(*read_file(folder / "x.1.log"), Catch::Contains("line 1"));
}

}  // namespace
}  // namespace pacml
