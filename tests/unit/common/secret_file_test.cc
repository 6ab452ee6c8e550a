#include "common/secret_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace pacml;
namespace fs = std::filesystem;

namespace {

fs::path make_file(const fs::path& path, const std::string& text, mode_t mode) {
  std::ofstream(path) << text;
  REQUIRE(::chmod(path.c_str(), mode) == 0);
  return path;
}

// What is wrong with a file.
Error refusal(const fs::path& path, std::size_t max_bytes = 4096) {
  const auto secret = read_secret_file(path, max_bytes);
  REQUIRE_FALSE(secret);
  CHECK_THAT(secret.error().detail, Catch::Contains(path.string()));
  CHECK_THAT(secret.error().detail, !Catch::Contains("\n"));
  return secret.error();
}

}  // namespace

TEST_CASE("a secret that only its owner can read is read, without white space around it") {
  const testing::TempDir folder;
  for (const mode_t mode : {0600U, 0400U}) {
    fs::remove(folder / "token");
    CHECK(read_secret_file(make_file(folder / "token", "\n open sesame \r\n", mode)).value() ==
          "open sesame");
  }
}

TEST_CASE("a secret is read through links, and the file's own mode counts") {
  const testing::TempDir folder;
  fs::create_symlink(make_file(folder / "data", "s", 0600), folder / "token");
  CHECK(read_secret_file(folder / "token").value() == "s");
  REQUIRE(::chmod((folder / "data").c_str(), 0604) == 0);
  CHECK_THAT(refusal(folder / "token").detail, Catch::Contains("0604"));
}

TEST_CASE("a secret that others can read or write is refused, with its mode and the remedy") {
  const testing::TempDir folder;
  for (const mode_t mode : {0604U, 0644U, 0602U, 0620U, 0660U}) {
    const auto path = make_file(folder / ("file-" + std::to_string(mode)), "s", mode);
    CHECK_THAT(refusal(path).detail, Catch::Contains("chmod 600 " + path.string()));
    CHECK_THAT(refusal(path).detail, !Catch::Contains("0600"));
  }
}

TEST_CASE("a group may read a secret that belongs to root, and no other") {
  const testing::TempDir folder;
  const auto path = make_file(folder / "token", "s", 0440);
  if (::geteuid() != 0) {
    CHECK_THAT(refusal(path).detail, Catch::Contains("0440"));
    return;
  }
  CHECK(read_secret_file(path).value() == "s");
  REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
  CHECK_THAT(refusal(path).detail, Catch::Contains("0440"));
}

TEST_CASE("what is no secret is said in a sentence, without waiting and without its content") {
  const testing::TempDir folder;
  CHECK_THAT(refusal(folder / "absent").detail, Catch::Contains("No such file"));
  CHECK_THAT(refusal(folder.path()).detail, Catch::Contains("no plain file"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(refusal(folder / "pipe").detail, Catch::Contains("no plain file"));
  CHECK_THAT(refusal(make_file(folder / "empty", " \n", 0600)).detail, Catch::Contains("empty"));
  const auto path = make_file(folder / "long", "xyzxyz", 0600);
  CHECK(read_secret_file(path, 6).value() == "xyzxyz");
  const auto error = refusal(path, 5);
  CHECK(error.code == Errc::kOverLimit);
  CHECK_THAT(error.detail, !Catch::Contains("xyz"));
}

TEST_CASE("a secret that its disk does not give now may be tried again") {
  const Error away = refusal("/proc/self/mem");  // nothing is mapped where it begins
  CHECK_THAT(away.detail, Catch::Contains("Input/output error"));
  CHECK(away.passes);
  const testing::TempDir folder;
  CHECK_FALSE(refusal(folder / "absent").passes);
}

TEST_CASE("a secret in a folder where others can replace it is refused, with the remedy") {
  const testing::TempDir folder;
  const auto path = make_file(folder / "token", "s", 0600);
  for (const mode_t mode : {0777U, 0770U, 0703U, 0722U}) {
    REQUIRE(::chmod(folder.path().c_str(), mode) == 0);
    CHECK_THAT(refusal(path).detail, Catch::Contains("chmod 700 " + folder.path().string()));
  }
  for (const mode_t mode : {01777U, 0755U, 0700U}) {  // the first one's files are their owners'
    REQUIRE(::chmod(folder.path().c_str(), mode) == 0);
    CHECK(read_secret_file(path).value() == "s");
  }
}
