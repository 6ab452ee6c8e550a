#include "common/private_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/file_descriptor.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

TEST_CASE("a private folder is its owner's alone, and goes with it") {
  std::filesystem::path file;
  {
    const PrivateFolder folder("pacml-test");
    CHECK(std::filesystem::status(folder.path()).permissions() ==
          std::filesystem::perms::owner_all);
    file = folder / "file";
    std::ofstream(file) << "text";
    CHECK(std::filesystem::exists(file));
    // As a cleaner of old files asks whether it is in use.
    const FileDescriptor cleaner(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
    CHECK(::flock(cleaner.get(), LOCK_EX | LOCK_NB) == -1);
  }
  CHECK_FALSE(std::filesystem::exists(file.parent_path()));
}

TEST_CASE("two private folders of a name are two") {
  CHECK(PrivateFolder("pacml-test").path() != PrivateFolder("pacml-test").path());
}

TEST_CASE("a private folder whose owner was killed goes with the next one of its name") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const PrivateFolder folder("pacml-killed");
    const std::string path = folder.path().string();
    if (::write(ends[1], path.data(), path.size()) < 0) ::_exit(1);
    while (true) ::pause();
  }
  std::array<char, 4096> path{};
  const ssize_t length = ::read(ends[0], path.data(), path.size());
  REQUIRE(length > 0);
  const std::filesystem::path left(std::string(path.data(), static_cast<std::size_t>(length)));
  { const PrivateFolder other("pacml-killed"); }
  CHECK(std::filesystem::exists(left));  // its owner lives
  REQUIRE(::kill(owner, SIGKILL) == 0);
  REQUIRE(::waitpid(owner, nullptr, 0) == owner);
  { const PrivateFolder other("pacml-somebody"); }
  CHECK(std::filesystem::exists(left));  // of another name
  { const PrivateFolder other("pacml-killed"); }
  CHECK_FALSE(std::filesystem::exists(left));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a folder for temporary files that is not there is named in a sentence") {
  const testing::TempDir there;
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("TMPDIR", (there / "gone").c_str(), 1);
  CHECK_THROWS_AS(PrivateFolder("pacml-nowhere"), UserError);
  CHECK_THROWS_WITH(PrivateFolder("pacml-nowhere"), Catch::Contains((there / "gone").string()));
  CHECK_NOTHROW(remove_left_private_folders("pacml-nowhere"));
  ::setenv("TMPDIR", "", 1);  // as good as none
  CHECK_NOTHROW(PrivateFolder("pacml-nowhere"));
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
}

TEST_CASE("a folder of such a name that never had an owner is somebody else's") {
  const auto folder = std::filesystem::temp_directory_path() / "pacml-foreign-abcdef";
  std::filesystem::create_directory(folder);
  { const PrivateFolder other("pacml-foreign"); }
  CHECK(std::filesystem::exists(folder));
  std::filesystem::remove(folder);
}

}  // namespace
}  // namespace pacml
