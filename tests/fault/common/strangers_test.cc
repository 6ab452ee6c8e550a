#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/asio.h"
#include "common/resident_memory.h"
#include "common/rng.h"
#include "common/transport/dealer.h"
#include "common/transport/router.h"
#include "common/wire/codec.h"
#include "tests/support/catch.h"
#include "tests/support/soon.h"
#include "tests/support/wire_samples.h"

namespace pacml::transport {
namespace {

using namespace std::chrono_literals;

// A connection that speaks whatever it likes.
class Stranger {
 public:
  explicit Stranger(const Endpoint& endpoint) : socket_(io_) {
    socket_.connect({asio::ip::make_address(endpoint.host()),
                     static_cast<unsigned short>(std::stoi(endpoint.port()))});
  }
  void say(const std::string& bytes) {
    boost::system::error_code ignored;  // being cut off is a fine answer
    socket_.write_some(asio::buffer(bytes), ignored);
  }
  // False: cut off meanwhile.
  bool say_all(const std::string& bytes) {
    boost::system::error_code error;
    asio::write(socket_, asio::buffer(bytes), error);
    return !error;
  }

 private:
  asio::io_context io_;
  asio::ip::tcp::socket socket_;
};

// What ZeroMQ's clients say first (ZMTP 3.0, without security).
std::string greeting() {
  return std::string("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL", 16) + std::string(48, '\0');
}

// The handshake of a DEALER, behind the greeting.
std::string ready() {
  const std::string body = std::string("\5READY\13Socket-Type\0\0\0\6DEALER", 28);
  return std::string("\4") + static_cast<char>(body.size()) + body;
}

// Of a frame that is so long.
std::string long_header(std::uint64_t bytes) {
  std::string header("\2");
  for (int shift = 56; shift >= 0; shift -= 8) header += static_cast<char>((bytes >> shift) & 0xff);
  return header;
}

// Noise may pass for a message of an old protocol version of ZeroMQ; then it does not decode.
void require_still_serving(Context& context, Router& router) {
  Dealer friendly(context, router.endpoint());
  REQUIRE(friendly.send(wire::encode(wire::Ping{7}), testing::soon()));
  Result<wire::Message> message = fail(Errc::kTimeout);
  while (!message) {
    const auto got = router.receive(testing::soon());
    REQUIRE(got);
    message = wire::decode(got->frame);
  }
  REQUIRE(std::get<wire::Ping>(*message).nonce == 7);
}

TEST_CASE("strangers who do not speak ZeroMQ do not disturb the server", "[fault][transport]") {
  Context context;
  Router router(context, Endpoint::parse("tcp://127.0.0.1:*"));
  SECTION("a web browser") { Stranger(router.endpoint()).say("GET / HTTP/1.1\r\nHost: x\r\n\r\n"); }
  SECTION("noise") {
    Rng rng(Seed{1});
    for (int i = 0; i < 50; ++i) {
      Stranger(router.endpoint()).say(testing::random_bytes(rng, 2000));
    }
  }
  SECTION("a greeting, then noise") {
    Rng rng(Seed{2});
    for (int i = 0; i < 50; ++i) {
      Stranger stranger(router.endpoint());
      stranger.say(greeting());
      stranger.say(testing::random_bytes(rng, 2000));
    }
  }
  SECTION("connections that say nothing") {
    const Stranger first(router.endpoint());
    const Stranger second(router.endpoint());
    require_still_serving(context, router);
  }
  require_still_serving(context, router);
}

TEST_CASE("frames that are longer than any message are not stored, finished or not",
          "[fault][transport]") {
  constexpr std::size_t kMany = 4;
  constexpr std::size_t kSaid = std::size_t{50} << 20;
  Context context;
  Router router(context, Endpoint::parse("tcp://127.0.0.1:*"));
  require_still_serving(context, router);
  const std::string much(kSaid, 'x');
  std::vector<std::unique_ptr<Stranger>> strangers;
  const auto before = resident_bytes();
  for (std::size_t i = 0; i < kMany; ++i) {
    strangers.push_back(std::make_unique<Stranger>(router.endpoint()));
    REQUIRE(strangers.back()->say_all(greeting() + ready()));
    CHECK_FALSE(strangers.back()->say_all(long_header(200'000'000) + much));
  }
  const auto grown = resident_bytes() - before;
  INFO("grown by " << grown << " bytes");
  CHECK(grown < static_cast<std::int64_t>(kSaid / 2));
  require_still_serving(context, router);
}

TEST_CASE("frames that are as long as a message may be are stored", "[fault][transport]") {
  Context context;
  Router router(context, Endpoint::parse("tcp://127.0.0.1:*"));
  const auto limit = static_cast<std::size_t>(SocketConfig{}.max_part_bytes);
  Stranger stranger(router.endpoint());
  REQUIRE(stranger.say_all(greeting() + ready() + long_header(limit) + std::string(limit, 'x')));
  const auto got = router.receive(testing::soon());
  REQUIRE(got);
  REQUIRE(got->frame.parts.size() == 1);
  CHECK(got->frame.parts[0].size() == limit);
}

}  // namespace
}  // namespace pacml::transport
