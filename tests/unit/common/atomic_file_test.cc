#include "common/atomic_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator{}));
}

TEST_CASE("what was written is read back, zeros and all", "[file]") {
  const TempDir folder;
  const std::string content("a\0b\n", 4);
  REQUIRE(write_file_atomically(folder / "f", content));
  REQUIRE(read_file(folder / "f") == content);
}

TEST_CASE("writing replaces the old content and leaves no temporary", "[file]") {
  const TempDir folder;
  REQUIRE(write_file_atomically(folder / "f", "a much longer old content"));
  REQUIRE(write_file_atomically(folder / "f", "new"));
  REQUIRE(read_file(folder / "f") == "new");
  REQUIRE(files_in(folder.path()) == 1);
}

TEST_CASE("a failed write names the path and leaves the old file", "[file]") {
  const TempDir folder;
  fs::create_directory(folder / "taken");
  REQUIRE(write_file_atomically(folder / "taken" / "inner", "old"));
  const auto result = write_file_atomically(folder / "taken", "new");
  REQUIRE(result.error().code == Errc::kIo);
  REQUIRE_THAT(result.error().detail, Catch::Contains((folder / "taken").string()));
  REQUIRE(read_file(folder / "taken" / "inner") == "old");
  REQUIRE(files_in(folder.path()) == 1);
}

TEST_CASE("a folder that is not there is an error with a reason", "[file]") {
  const TempDir folder;
  const auto result = write_file_atomically(folder / "no" / "f", "x");
  REQUIRE(result.error().code == Errc::kIo);
  REQUIRE_THAT(result.error().detail, Catch::EndsWith("No such file or directory"));
}

TEST_CASE("a written file can be read by others", "[file]") {
  const TempDir folder;
  REQUIRE(write_file_atomically(folder / "f", "x"));
  struct stat status {};
  REQUIRE(::stat((folder / "f").c_str(), &status) == 0);
  REQUIRE((status.st_mode & 0777) == 0644);
}

TEST_CASE("reading stops at the limit", "[file]") {
  const TempDir folder;
  REQUIRE(write_file_atomically(folder / "f", std::string(100, 'x')));
  REQUIRE(read_file(folder / "f", 100)->size() == 100);
  REQUIRE(read_file(folder / "f", 99).error().code == Errc::kOverLimit);
}

TEST_CASE("reading a folder or nothing is an error that names it", "[file]") {
  const TempDir folder;
  REQUIRE(read_file(folder.path()).error().code == Errc::kIo);
  REQUIRE_THAT(read_file(folder / "none").error().detail,
               Catch::Contains((folder / "none").string()));
}

}  // namespace
}  // namespace pacml
