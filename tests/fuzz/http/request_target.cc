#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "apps/http/http_server.h"
#include "apps/http/status_pages.h"
#include "common/asio.h"
#include "common/check.h"
#include "common/clock.h"
#include "tests/fuzz/http/targets.h"

namespace pacml::fuzz {
namespace {

using asio::ip::tcp;

// More would not fit into the system's buffers while nobody reads: server and client are one
// thread.
constexpr std::size_t kMostBytes = std::size_t{1} << 15;

// A server for all inputs: what one leaves behind in it would show at the next.
class Server {
 public:
  Server() : pages_([] { return apps::RoleReport{R"({"role": "learner"})", true, {}}; }, {}) {}

  [[nodiscard]] tcp::endpoint endpoint() const {
    const std::string address = server_.address();
    const auto colon = address.rfind(':');
    return {asio::ip::make_address(address.substr(0, colon)),
            static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)))};
  }
  // All that it answers, until it ends the connection.
  std::string answer_to(std::span<const std::byte> bytes) {
    tcp::socket client(io_);
    client.connect(endpoint());
    boost::system::error_code ended;
    asio::write(client, asio::buffer(bytes.data(), bytes.size()), ended);
    if (!ended) client.shutdown(tcp::socket::shutdown_send, ended);
    client.non_blocking(true);
    std::string answers;
    std::array<char, 4096> part{};
    const Deadline deadline = Deadline::in(std::chrono::seconds(120));
    while (true) {
      io_.restart();
      io_.poll();
      boost::system::error_code error;
      const std::size_t got = client.read_some(asio::buffer(part), error);
      answers.append(part.data(), got);
      if (error && error != asio::error::would_block) return answers;
      PACML_CHECK(!deadline.expired(), "a connection that its client has ended comes to an end");
    }
  }

 private:
  asio::io_context io_;
  apps::StatusPages pages_;
  apps::HttpServer server_{
      io_, apps::HttpSettings{},
      [this](const apps::HttpRequest& request, const apps::HttpCounters& counters) {
        return pages_.answer(request, counters);
      }};
};

}  // namespace

bool http_request(std::span<const std::byte> bytes) {
  static Server server;
  const std::string answers =
      server.answer_to(bytes.first(std::min<std::size_t>(bytes.size(), kMostBytes)));
  PACML_CHECK(answers.empty() || answers.starts_with("HTTP/1.1 "), "it answers in HTTP");
  // At the beginning of an answer: within a line it may be what the request said of itself.
  PACML_CHECK(("\n" + answers).find("\nHTTP/1.1 500") == std::string::npos,
              "no request makes it fail");
  return answers.starts_with("HTTP/1.1 200");
}

}  // namespace pacml::fuzz
