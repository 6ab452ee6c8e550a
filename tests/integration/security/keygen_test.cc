// pacml keygen, and keys that a command cannot use, as a user meets them.

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/transport/key_files.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/refusals.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using testing::check_refused;
using testing::pacml;
using testing::Workplace;

TEST_CASE("keygen makes a folder, adds clients to it, and never overwrites a key",
          "[integration][security]") {
  const Workplace place;
  const std::string keys = place / "keys";
  const auto made = pacml({"keygen", keys});
  CHECK(made.code == 0);
  CHECK_THAT(made.out, Catch::Contains("server.key, server.pub, allowed_clients"));
  CHECK_NOTHROW(transport::server_encryption(keys));
  CHECK_NOTHROW(transport::client_encryption(keys, "actor"));
  CHECK(pacml({"keygen", keys, "--client", "laptop"}).code == 0);
  CHECK_NOTHROW(transport::client_encryption(keys, "laptop"));
  // Secrets are for files, not for terminals and their logs.
  CHECK_THAT(made.out, !Catch::Contains(transport::server_encryption(keys).own.secret_key));

  check_refused(place, {"keygen", keys}, {keys, "never overwritten"});
  check_refused(place, {"keygen", keys, "--client", "laptop"}, {"laptop.key", "never overwritten"});
  check_refused(place, {"keygen", keys, "--client", "../x"}, {"cannot be a client's name"});
  check_refused(place, {"keygen", place / "no", "--client", "x"}, {"cannot open the folder"});
}

TEST_CASE("keys that cannot be used are refused before anything is started",
          "[integration][security]") {
  const Workplace place;
  const std::string keys = place / "keys";
  REQUIRE(pacml({"keygen", keys}).code == 0);
  const std::vector<std::string> train = {"train", place.config_file(), "--run", place.run()};
  auto with_keys = train;
  with_keys.insert(with_keys.end(), {"--keys", keys});
  SECTION("a secret that others can read") {
    REQUIRE(::chmod((keys + "/server.key").c_str(), 0644) == 0);
    check_refused(place, with_keys, {keys + "/server.key", "chmod 600"});
  }
  SECTION("a list that others can write") {
    REQUIRE(::chmod((keys + "/allowed_clients").c_str(), 0666) == 0);
    check_refused(place, with_keys, {keys + "/allowed_clients", "chmod 644"});
  }
  SECTION("a list with a mistake in it") {
    std::ofstream(keys + "/allowed_clients") << "#\nnobody\n";
    check_refused(place, with_keys, {keys + "/allowed_clients line 2"});
  }
  SECTION("no folder, named in the configuration") {
    auto with_set = train;
    with_set.insert(with_set.end(), {"--set", "security.keys=" + (place / "no").string()});
    check_refused(place, with_set, {(place / "no" / "server.key").string()});
  }
  SECTION("a client that has no key") {
    with_keys.insert(with_keys.end(), {"--set", "security.client=laptop"});
    check_refused(place, with_keys, {"laptop.key"});
  }
}

}  // namespace
}  // namespace pacml
