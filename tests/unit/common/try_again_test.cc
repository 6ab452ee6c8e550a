#include "common/try_again.h"

#include <cerrno>
#include <filesystem>

#include "common/atomic_file.h"
#include "common/config/source.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

TEST_CASE("what may pass by itself is told from what a person must mend", "[unit][common]") {
  for (const int error : {EIO, ESTALE, EADDRINUSE, ENOMEM, EMFILE, ETIMEDOUT}) {
    INFO(error);
    CHECK_THROWS_AS(throw_system_error("cannot read x", error), TryAgainError);
  }
  for (const int error : {ENOENT, EACCES, EISDIR, EROFS, ENOSPC}) {
    INFO(error);
    CHECK_FALSE(passes_by_itself(error));
    CHECK_THROWS_AS(throw_system_error("cannot read x", error), UserError);
  }
  CHECK_THROWS_WITH(throw_system_error("cannot read x", ESTALE),
                    "cannot read x: Stale file handle");
}

TEST_CASE("whether a file may be tried again is known to whoever tries", "[unit][common]") {
  const auto away = read_file("/proc/self/mem");  // nothing is mapped where it begins
  REQUIRE_FALSE(away);
  CHECK_THAT(away.error().detail, Catch::Contains("Input/output error"));
  CHECK(away.error().passes);
  CHECK_THROWS_AS(throw_error(away.error()), TryAgainError);
  CHECK_THROWS_AS(ConfigSource::from_file("/proc/self/mem"), TryAgainError);
  const auto absent = read_file("/no/such/file");
  REQUIRE_FALSE(absent);
  CHECK_FALSE(absent.error().passes);
}

TEST_CASE("that nothing is there is told from that nobody can tell", "[unit][common]") {
  const testing::TempDir folder;
  CHECK(is_there(folder.path()));
  CHECK_FALSE(is_there(folder / "absent"));
  CHECK_FALSE(is_there("/dev/null/below"));
  std::filesystem::create_symlink("circle", folder / "circle");
  CHECK_THROWS_WITH(is_there(folder / "circle"),
                    Catch::StartsWith("cannot read ") && Catch::Contains("symbolic links"));
}

}  // namespace
}  // namespace pacml
