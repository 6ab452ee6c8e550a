#include <chrono>
#include <string>

#include "common/asio.h"
#include "common/rng.h"
#include "common/transport/dealer.h"
#include "common/transport/router.h"
#include "common/wire/codec.h"
#include "tests/support/catch.h"
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

 private:
  asio::io_context io_;
  asio::ip::tcp::socket socket_;
};

// Noise may pass for a message of an old protocol version of ZeroMQ; then it does not decode.
void require_still_serving(Context& context, Router& router) {
  Dealer friendly(context, router.endpoint());
  REQUIRE(friendly.send(wire::encode(wire::Ping{7}), Deadline::in(5s)));
  Result<wire::Message> message = fail(Errc::kTimeout);
  while (!message) {
    const auto got = router.receive(Deadline::in(20s));
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
    const std::string greeting =
        std::string("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL", 16) + std::string(48, '\0');
    for (int i = 0; i < 50; ++i) {
      Stranger stranger(router.endpoint());
      stranger.say(greeting);
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

}  // namespace
}  // namespace pacml::transport
