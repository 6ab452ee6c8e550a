#include "common/transport/key_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/atomic_file.h"
#include "common/transport/allow_list.h"
#include "tests/support/catch.h"
#include "tests/support/key_folder.h"
#include "tests/support/temp_dir.h"

namespace pacml::transport {
namespace {

namespace fs = std::filesystem;
using testing::KeyFolder;

mode_t mode_of(const fs::path& path) {
  struct stat file {};
  REQUIRE(::stat(path.c_str(), &file) == 0);
  return file.st_mode & 07777;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

std::set<std::string> holders(const fs::path& folder) {
  std::set<std::string> names;
  AllowListFile file(folder / "allowed_clients");
  for (const auto& [key, name] : file.current().entries()) names.insert(name);
  return names;
}

TEST_CASE("a key is 40 characters of Z85", "[transport][security]") {
  const std::string key = generate_curve_keys().secret_key;
  CHECK(parse_curve_key(key).value() == key);
  CHECK(parse_curve_key(key + "\n").value() == key);
  CHECK(parse_curve_key(key + "\r\n").value() == key);
  CHECK(encode_curve_key(*decode_curve_key(key)) == key);
  for (const auto& wrong :
       {std::string(), key.substr(1), key + "0", key + "\n\n", " " + key.substr(1),
        key.substr(0, 39) + "\"", key.substr(0, 39) + std::string(1, '\0'), std::string(40, '#')}) {
    INFO(wrong);
    CHECK_FALSE(parse_curve_key(wrong));
  }
}

TEST_CASE("a public key follows from its secret one", "[transport][security]") {
  const CurveKeys keys = generate_curve_keys();
  CHECK(public_curve_key(keys.secret_key) == keys.public_key);
  CHECK(generate_curve_keys().secret_key != keys.secret_key);
}

TEST_CASE("a folder of keys has what servers and actors need, and secrets are its owner's",
          "[transport][security]") {
  const KeyFolder keys;
  CHECK(names_in(keys.path()) == std::set<std::string>{"actor.key", "actor.pub", "allowed_clients",
                                                       "server.key", "server.pub"});
  CHECK(mode_of(keys.path()) == 0700);
  CHECK(mode_of(keys / "server.key") == 0600);
  CHECK(mode_of(keys / "actor.key") == 0600);
  CHECK(mode_of(keys / "server.pub") == 0644);
  CHECK(holders(keys.path()) == std::set<std::string>{"server", "actor"});

  const Encryption server = keys.server();
  const Encryption actor = keys.client();
  CHECK(actor.server_public_key == server.own.public_key);
  CHECK(actor.own.public_key != server.own.public_key);
  CHECK(server.allowed_clients == keys / "allowed_clients");
  CHECK(actor.allowed_clients.empty());
  auto list = AllowListFile(server.allowed_clients);
  CHECK(*list.current().find(*decode_curve_key(actor.own.public_key)) == "actor");
  CHECK(*list.current().find(*decode_curve_key(server.own.public_key)) == "server");
}

TEST_CASE("keys are never overwritten, and a folder is made whole or not at all",
          "[transport][security]") {
  const KeyFolder keys;
  const std::string before = keys.server().own.secret_key;
  REQUIRE_THROWS_WITH(create_key_folder(keys.path()), Catch::Contains("never overwritten"));
  CHECK(keys.server().own.secret_key == before);

  const testing::TempDir folder;
  fs::create_directory(folder / "empty");
  create_key_folder(folder / "empty/");
  CHECK(names_in(folder / "empty").size() == 5);
  std::ofstream(folder / "file") << "x";
  REQUIRE_THROWS_AS(create_key_folder(folder / "file"), UserError);
  REQUIRE_THROWS_WITH(create_key_folder(folder / "no" / "such"),
                      Catch::Contains("cannot create the folder"));
  CHECK(names_in(folder.path()) == std::set<std::string>{"empty", "file"});
  // A folder is the same by whatever name it goes.
  fs::create_directory(folder / "here");
  fs::create_directory_symlink("here", folder / "link");
  create_key_folder(folder / "link");
  CHECK(names_in(folder / "here").size() == 5);
  REQUIRE_THROWS_WITH(create_key_folder("."), Catch::Contains("is the folder that you are in"));
}

TEST_CASE("a client more has a pair and a line of its own", "[transport][security]") {
  const KeyFolder keys;
  add_client_key(keys.path(), "host-7");
  CHECK(mode_of(keys / "host-7.key") == 0600);
  CHECK(holders(keys.path()) == std::set<std::string>{"server", "actor", "host-7"});
  const std::string before = keys.client("host-7").own.public_key;
  REQUIRE_THROWS_WITH(add_client_key(keys.path(), "host-7"), Catch::Contains("never overwritten"));
  REQUIRE_THROWS_WITH(add_client_key(keys.path(), "server"), Catch::Contains("never overwritten"));
  for (const std::string name : {"", "../x", ".x", "a b", "a\nb"}) {
    REQUIRE_THROWS_WITH(add_client_key(keys.path(), name), Catch::Contains("a client's name"));
  }
  REQUIRE_THROWS_AS(add_client_key(keys / "elsewhere", "x"), UserError);
  CHECK(keys.client("host-7").own.public_key == before);
}

TEST_CASE("a client is not added to a list that is broken", "[transport][security]") {
  const KeyFolder keys;
  std::ofstream(keys / "allowed_clients") << "nonsense\n";
  REQUIRE_THROWS_WITH(add_client_key(keys.path(), "x"), Catch::Contains("line 1"));
  CHECK_FALSE(fs::exists(keys / "x.key"));
}

TEST_CASE("clients that are added at once all get their line", "[transport][security]") {
  const KeyFolder keys;
  // A list whose last line an editor left open.
  std::ofstream(keys / "allowed_clients") << generate_curve_keys().public_key << " one\n"
                                          << generate_curve_keys().public_key << " two";
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] { add_client_key(keys.path(), "c" + std::to_string(i)); });
  }
  threads.clear();
  CHECK(holders(keys.path()).size() == 10);
}

TEST_CASE("keys that are missing, broken, mixed up or open to others are the user's to mend",
          "[transport][security]") {
  const KeyFolder keys;
  SECTION("missing") {
    fs::remove(keys / "server.pub");
    const std::string sentence = "cannot read " + (keys / "server.pub").string();
    REQUIRE_THROWS_WITH(keys.server(), Catch::Contains(sentence));
    REQUIRE_THROWS_WITH(keys.client(), Catch::Contains(sentence));
    REQUIRE_THROWS_WITH(keys.client("nobody"), Catch::Contains("nobody.key"));
  }
  SECTION("broken") {
    std::ofstream(keys / "actor.key") << "secret";
    REQUIRE_THROWS_WITH(keys.client(), (keys / "actor.key").string() +
                                           " is not a key: 40 characters of Z85 on one line");
  }
  SECTION("mixed up") {
    fs::copy_file(keys / "actor.pub", keys / "server.pub", fs::copy_options::overwrite_existing);
    REQUIRE_THROWS_WITH(keys.server(), Catch::Contains("is not the public key of"));
  }
  SECTION("open to others") {
    REQUIRE(::chmod((keys / "server.key").c_str(), 0644) == 0);
    REQUIRE_THROWS_WITH(keys.server(), Catch::Contains("chmod 600"));
    REQUIRE_NOTHROW(keys.client());
  }
}

TEST_CASE("keys are found through the links of a mounted Secret", "[transport][security]") {
  const KeyFolder keys;
  const testing::TempDir mount;
  fs::create_directory_symlink(keys.path(), mount / "..data");
  for (const auto& name : names_in(keys.path())) {
    fs::create_symlink(fs::path("..data") / name, mount / name);
  }
  CHECK(server_encryption(mount.path()).own.secret_key == keys.server().own.secret_key);
  CHECK(client_encryption(mount.path(), "actor").own.secret_key == keys.client().own.secret_key);
}

}  // namespace
}  // namespace pacml::transport
