#include "apps/http/http_settings.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml::apps {
namespace {

using Catch::Contains;

std::string token_file(const testing::TempDir& folder, const std::string& text,
                       mode_t mode = 0600) {
  const std::string path = (folder / "token").string();
  std::filesystem::remove(path);
  std::ofstream(path) << text;
  REQUIRE(::chmod(path.c_str(), mode) == 0);
  return path;
}

const std::string kToken = "0123456789abcdef";

TEST_CASE("without --http nothing is served", "[unit][http]") {
  CHECK_FALSE(make_http_settings({}, {}));
  CHECK_THROWS_WITH(make_http_settings({}, "token"), Contains("--http-token-file"));
}

TEST_CASE("a port alone is this machine's", "[unit][http]") {
  const auto settings = make_http_settings("9100", {});
  REQUIRE(settings);
  CHECK(settings->host == "127.0.0.1");
  CHECK(settings->port == 9100);
  CHECK(settings->token.empty());
}

TEST_CASE("an address is an IP address and a port", "[unit][http]") {
  CHECK(make_http_settings("127.0.0.2:0", {})->host == "127.0.0.2");
  CHECK(make_http_settings("localhost:65535", {})->port == 65535);
  CHECK(make_http_settings("localhost:1", {})->host == "127.0.0.1");
  CHECK(make_http_settings("[::1]:1", {})->host == "::1");
  for (const char* wrong : {"", ":", "x", "65536", "-1", "+1", "9100 ", "1.2.3:1", "example.org:1",
                            "127.0.0.1", "127.0.0.1:", ":9100", "::1:9100", "[127.0.0.1]:1",
                            "[::1]", "[::1]9100", "9100x", "0x10"}) {
    CHECK_THROWS_WITH(make_http_settings(wrong, {}),
                      Contains("'" + std::string(wrong) + "'") && Contains("[HOST:]PORT"));
  }
}

TEST_CASE("an address that others can reach needs a token", "[unit][http]") {
  const testing::TempDir folder;
  const auto file = token_file(folder, kToken + "\n");
  for (const char* open : {"0.0.0.0:9100", "[::]:9100", "10.0.0.1:9100", "[::ffff:127.0.0.1]:1"}) {
    INFO(open);
    CHECK_THROWS_WITH(make_http_settings(open, {}), Contains("needs --http-token-file"));
    CHECK(make_http_settings(open, file)->token == kToken);
  }
  CHECK(make_http_settings("9100", file)->token == kToken);
}

TEST_CASE("a token is one long word in a file of its owner's", "[unit][http]") {
  const testing::TempDir folder;
  const auto refusal = [&](const std::string& file) {
    try {
      static_cast<void>(make_http_settings("9100", file));
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    FAIL("accepted");
    return std::string();
  };
  CHECK_THAT(refusal((folder / "absent").string()), Contains("absent"));
  CHECK_THAT(refusal(token_file(folder, kToken, 0644)), Contains("chmod 600"));
  CHECK_THAT(refusal(token_file(folder, kToken.substr(1))), Contains("at least 16"));
  CHECK_THAT(refusal(token_file(folder, kToken + " " + kToken)), Contains("one word"));
  CHECK_THAT(refusal(token_file(folder, kToken + "\xc3\xa4")), Contains("one word"));
}

}  // namespace
}  // namespace pacml::apps
