#include "common/transport/allow_list.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/atomic_file.h"
#include "tests/support/catch.h"
#include "tests/support/listening.h"
#include "tests/support/temp_dir.h"

namespace pacml::transport {
namespace {

namespace fs = std::filesystem;

const std::string kAnna = generate_curve_keys().public_key;
const std::string kBert = generate_curve_keys().public_key;

bool holds(const AllowList& list, const std::string& key) {
  return list.find(*decode_curve_key(key)) != nullptr;
}

void check_refused(const std::string& text, const std::string& sentence) {
  INFO(text);
  REQUIRE_THROWS_WITH(AllowList::parse(text, "list"), Catch::Contains(sentence));
}

TEST_CASE("a list names clients by their keys", "[transport][security]") {
  const auto list = AllowList::parse(
      "# who may\n\n" + kAnna + " anna\n  \t" + kBert + "\tb.e-r_t1 \r\n#" + kBert + " x", "list");
  REQUIRE(list.size() == 2);
  CHECK(*list.find(*decode_curve_key(kAnna)) == "anna");
  CHECK(*list.find(*decode_curve_key(kBert)) == "b.e-r_t1");
  CHECK_FALSE(holds(list, generate_curve_keys().public_key));
  CHECK(AllowList::parse("", "list").size() == 0);
}

TEST_CASE("one holder may have two keys, as while they are being changed",
          "[transport][security]") {
  CHECK(AllowList::parse(kAnna + " anna\n" + kBert + " anna\n", "list").size() == 2);
}

TEST_CASE("a line that is no client is refused with its number", "[transport][security]") {
  // Short of its last character: one short of its first may begin with '#', which is a comment.
  check_refused("\n" + kAnna.substr(0, 39) + " anna",
                "list line 2: does not begin with a public key");
  check_refused(kAnna + "0 anna", "line 1: does not begin with a public key");
  check_refused(std::string(40, '~') + " anna", "40 characters of Z85");
  check_refused(kAnna.substr(0, 39) + std::string(1, '\0') + " anna", "40 characters of Z85");
  check_refused(kAnna, "the name of its holder");
  check_refused(kAnna + " -anna", "the name of its holder");
  check_refused(kAnna + " an/na", "the name of its holder");
  check_refused(kAnna + " " + std::string(65, 'a'), "the name of its holder");
  check_refused(kAnna + " anna # comment", "more than a key and a name");
  check_refused("#\n" + kAnna + " anna\n" + kAnna + " bert", "line 3: the key of anna again");
  check_refused(std::string((1U << 20) + 1, '\n'), "longer than");
}

// Replaced as an editor, keygen or Kubernetes does it, so that each version is another file.
void replace(const fs::path& path, const std::string& text) {
  REQUIRE(write_file_atomically(path, text).has_value());
}

TEST_CASE("a list follows its file", "[transport][security]") {
  const testing::TempDir folder;
  const fs::path path = folder / "list";
  replace(path, kAnna + " anna\n");
  AllowListFile file(path);
  CHECK(holds(file.current(), kAnna));
  CHECK_FALSE(holds(file.current(), kBert));
  replace(path, kBert + " bert\n");
  CHECK_FALSE(holds(file.current(), kAnna));
  CHECK(holds(file.current(), kBert));
}

TEST_CASE("a list follows a link that is led elsewhere, as in a mounted Secret",
          "[transport][security]") {
  const testing::TempDir folder;
  for (const auto& [name, key] : {std::pair("one", kAnna), std::pair("two", kBert)}) {
    fs::create_directory(folder / name);
    replace(folder / name / "list", key + " holder\n");
  }
  fs::create_directory_symlink(folder / "one", folder / "data");
  fs::create_symlink(folder / "data" / "list", folder / "list");
  AllowListFile file(folder / "list");
  REQUIRE(holds(file.current(), kAnna));
  fs::create_directory_symlink(folder / "two", folder / "next");
  fs::rename(folder / "next", folder / "data");
  CHECK(holds(file.current(), kBert));
  CHECK_FALSE(holds(file.current(), kAnna));
}

TEST_CASE("a list that is broken or gone leaves the former one in force until it is mended",
          "[transport][security]") {
  const testing::TempDir folder;
  const fs::path path = folder / "list";
  replace(path, kAnna + " anna\n");
  AllowListFile file(path);
  SECTION("broken") { replace(path, "who is this\n"); }
  SECTION("gone") { fs::remove(path); }
  SECTION("emptied, before it is written anew") { std::ofstream(path).flush(); }
  SECTION("open to others") {
    replace(path, kBert + " bert\n");
    REQUIRE(::chmod(path.c_str(), 0666) == 0);
  }
  const testing::Listening log;
  CHECK(holds(file.current(), kAnna));
  const std::string said = log.heard();
  CHECK_THAT(said, Catch::Contains("whoever might connect before still may"));
  CHECK_FALSE(holds(file.current(), kBert));
  CHECK(log.heard() == said);  // once
  fs::remove(path);            // else it would stay open to others
  replace(path, kBert + " bert\n");
  CHECK(holds(file.current(), kBert));
  CHECK_FALSE(holds(file.current(), kAnna));
}

TEST_CASE("a list that was open to others counts as soon as it no longer is",
          "[transport][security]") {
  const testing::TempDir folder;
  const fs::path path = folder / "list";
  replace(path, kAnna + " anna\n");
  AllowListFile file(path);
  replace(path, kBert + " bert\n");
  REQUIRE(::chmod(path.c_str(), 0666) == 0);
  REQUIRE(holds(file.current(), kAnna));
  REQUIRE(::chmod(path.c_str(), 0644) == 0);
  CHECK(holds(file.current(), kBert));
  CHECK_FALSE(holds(file.current(), kAnna));
}

TEST_CASE("a list that is broken at the beginning is the user's to mend", "[transport][security]") {
  const testing::TempDir folder;
  const fs::path path = folder / "list";
  REQUIRE_THROWS_WITH(AllowListFile(path), Catch::Contains("cannot read " + path.string()));
  replace(path, "nonsense\n");
  REQUIRE_THROWS_WITH(AllowListFile(path), Catch::StartsWith(path.string() + " line 1"));
  replace(path, kAnna + " anna\n");
  REQUIRE(::chmod(path.c_str(), 0664) == 0);
  REQUIRE_THROWS_WITH(AllowListFile(path), Catch::Contains("chmod 644 " + path.string()));
}

}  // namespace
}  // namespace pacml::transport
