// Whatever bytes a client sends, the server goes on answering others.

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "apps/http/status_pages.h"
#include "common/rng.h"
#include "tests/support/catch.h"
#include "tests/support/http_client.h"
#include "tests/support/served_pages.h"
#include "tests/support/soon.h"

namespace pacml::apps {
namespace {

constexpr std::array kPieces = {"GET ",
                                "HEAD ",
                                "POST ",
                                "/status",
                                "/metrics",
                                "/",
                                " HTTP/1.1",
                                " HTTP/1.0",
                                "\r\n",
                                "\r\n\r\n",
                                "\n",
                                "Host: x",
                                "Host:",
                                ":",
                                " ",
                                "\t",
                                "Content-Length: 5",
                                "Connection: close",
                                "?",
                                "%00",
                                "Content-Length: -1",
                                "Connection: keep-alive",
                                "hello",
                                "\r",
                                "Transfer-Encoding: chunked",
                                "Authorization: Bearer ",
                                "http://x/",
                                "*",
                                "Upgrade: websocket",
                                "Expect: 100-continue",
                                "5\r\nhello",
                                "0\r\n\r\n",
                                "Content-Length: 18446744073709551616"};

// Requests taken apart and put together at random, with bytes of any kind in between.
std::string random_conversation(Rng& rng) {
  std::string text;
  for (auto left = 1 + rng.below(30); left > 0; --left) {
    switch (rng.below(8)) {
      case 0:
        text += static_cast<char>(rng.below(256));
        break;
      case 1:
        text += std::string(rng.below(3'000), static_cast<char>(rng.below(256)));
        break;
      case 2:
        text += "GET /status HTTP/1.1\r\nHost: x\r\n\r\n";
        break;
      default:
        text += kPieces[rng.below(kPieces.size())];
    }
  }
  return text;
}

TEST_CASE("random bytes change nothing for other clients", "[property][http]") {
  const StatusPages pages([] { return RoleReport{R"({"role": "learner"})", true, {}}; }, "");
  HttpLimits limits;
  limits.patience = std::chrono::milliseconds(100);  // with requests that never end
  testing::ServedPages server(
      [&](const HttpRequest& request, const HttpCounters& counters) {
        return pages.answer(request, counters);
      },
      limits);
  const std::uint64_t seed = 20'240'607;
  INFO("seed " << seed);
  Rng rng{Seed{seed}};
  for (int i = 0; i < 1'000; ++i) {
    const std::string bytes = random_conversation(rng);
    INFO("conversation " << i << ": " << bytes);
    testing::HttpClient client(server.address());
    client.say(bytes);
    // Others just leave.
    if (rng.below(16) == 0) REQUIRE(client.is_closed_soon());
    // Somebody whom the machine kept from asking within the patience asks again.
    testing::wait_until("who asks for a page gets it", [&] {
      if (i % 50 != 0) return true;
      testing::HttpClient friendly(server.address());
      friendly.say("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
      const auto answer = friendly.hear();
      return answer && answer->body() == "ok\n";
    });
  }
}

}  // namespace
}  // namespace pacml::apps
