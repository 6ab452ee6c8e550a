#include "common/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

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

mode_t mode_of(const fs::path& file) {
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

// Until it goes.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

TEST_CASE("whoever may read a new file is as the umask says", "[file]") {
  const TempDir folder;
  for (const mode_t mask : {0022U, 0077U, 0002U}) {
    const Umask umask(mask);
    const auto file = folder / std::to_string(mask);
    REQUIRE(write_file_atomically(file, "x"));
    CHECK(mode_of(file) == (0666 & ~mask));
  }
  REQUIRE(write_file_atomically(folder / "secret", "x", 0600));
  CHECK(mode_of(folder / "secret") == 0600);
}

TEST_CASE("a file that is replaced stays as readable as it was", "[file]") {
  const TempDir folder;
  REQUIRE(write_file_atomically(folder / "f", "old", 0640));
  REQUIRE(write_file_atomically(folder / "f", "new"));
  CHECK(mode_of(folder / "f") == 0640);
  REQUIRE(write_file_atomically(folder / "f", "newer", 0600));
  CHECK(mode_of(folder / "f") == 0600);
}

TEST_CASE("a new file takes no other's place", "[file]") {
  const TempDir folder;
  CHECK(write_new_file(folder / "f", "first") == true);
  CHECK(write_new_file(folder / "f", "second") == false);
  CHECK(read_file(folder / "f") == "first");
  CHECK(files_in(folder.path()) == 1);
  CHECK(write_new_file(folder / "no" / "f", "x").error().code == Errc::kIo);
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

TEST_CASE("a device is written into, and stays one", "[file]") {
  const TempDir folder;
  fs::create_symlink("/dev/full", folder / "full");
  fs::create_symlink("/dev/null", folder / "null");
  CHECK_THAT(
      write_file_atomically(folder / "full", "x").error().detail,
      Catch::Contains((folder / "full").string()) && Catch::EndsWith("No space left on device"));
  CHECK(write_file_atomically(folder / "null", "x"));
  for (const char* device : {"/dev/full", "/dev/null"}) CHECK(fs::is_character_file(device));
  CHECK(fs::is_symlink(folder / "full"));
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("a pipe is written into where somebody reads, refused where nobody does", "[file]") {
  const TempDir folder;
  const fs::path pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(write_file_atomically(pipe, "x").error().detail,
             Catch::Contains(pipe.string()) && Catch::EndsWith("nobody reads from it"));
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  CHECK(write_file_atomically(pipe, "told"));
  std::array<char, 8> got{};
  CHECK(::read(reader, got.data(), got.size()) == 4);
  ::close(reader);
  CHECK(fs::is_fifo(pipe));
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a link stays a link, and its goal is replaced", "[file]") {
  const TempDir folder;
  fs::create_directory(folder / "goal");
  REQUIRE(write_file_atomically(folder / "goal" / "f", "old"));
  fs::create_symlink(folder / "goal" / "f", folder / "link");
  REQUIRE(write_file_atomically(folder / "link", "new"));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_file(folder / "goal" / "f") == "new");
  CHECK(files_in(folder / "goal") == 1);
}

TEST_CASE("a link to what is not there yet stays a link", "[file]") {
  const TempDir folder;
  fs::create_directory(folder / "far");
  fs::create_symlink("next", folder / "link");
  fs::create_symlink(folder / "far" / "f", folder / "next");
  CHECK(behind_links(folder / "link") == folder / "far" / "f");
  REQUIRE(write_file_atomically(folder / "link", "new"));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(fs::is_symlink(folder / "next"));
  CHECK(read_file(folder / "far" / "f") == "new");
}

TEST_CASE("links that lead in a circle are an error", "[file]") {
  const TempDir folder;
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  CHECK_THAT(write_file_atomically(folder / "a", "x").error().detail,
             Catch::Contains((folder / "a").string()));
  CHECK(fs::is_symlink(folder / "b"));
}

// A process that writes half a file and is killed.
void write_half_and_die(const fs::path& path) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto file = AtomicFile::create(path);
    static_cast<void>(file && file->append("half"));
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

TEST_CASE("what a killed writer left goes with the next write of the file", "[file]") {
  const TempDir folder;
  write_half_and_die(folder / "f");
  write_half_and_die(folder / "g");
  REQUIRE(files_in(folder.path()) == 2);
  REQUIRE(write_file_atomically(folder / "f", "whole"));
  CHECK(files_in(folder.path()) == 2);  // f, and what is left of g
  remove_stale_temporaries(folder.path());
  CHECK(files_in(folder.path()) == 1);
  CHECK(read_file(folder / "f") == "whole");
}

TEST_CASE("what a living writer writes is no left-over, nor is a file of another's", "[file]") {
  const TempDir folder;
  for (const char* name : {".f.abcdef", "f.pacml-abcdef", ".pacml-abcdef"}) {
    std::ofstream(folder / name) << "mine";
  }
  auto first = AtomicFile::create(folder / "f");
  REQUIRE((first && first->append("first")));
  remove_stale_temporaries(folder.path());
  REQUIRE(write_file_atomically(folder / "f", "second"));
  CHECK(first->commit());
  CHECK(read_file(folder / "f") == "first");
  CHECK(files_in(folder.path()) == 4);
}

TEST_CASE("a pipe is read to its end, and an endless device up to the limit", "[file]") {
  const TempDir folder;
  const fs::path pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&pipe] { std::ofstream(pipe) << "told"; });
  CHECK(read_file(pipe) == "told");
  writer.join();
  CHECK(read_file("/dev/zero", 1000).error().code == Errc::kOverLimit);
}

}  // namespace
}  // namespace pacml
