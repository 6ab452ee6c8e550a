// Connections that end while messages wait.

#include <chrono>
#include <string>
#include <thread>

#include "common/transport/context.h"
#include "common/transport/publisher.h"
#include "common/transport/subscriber.h"
#include "common/wire/codec.h"
#include "tests/support/addresses.h"
#include "tests/support/catch.h"
#include "tests/support/network_proxy.h"
#include "tests/support/soon.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;
using testing::NetworkProxy;
using testing::tcp_address;

wire::Frame announcement(std::uint64_t version) {
  return wire::encode(wire::WeightsAnnouncement{PolicyVersion{version}, 1});
}

std::uint64_t version_in(const wire::Frame& frame) {
  const auto message = wire::decode(frame);
  REQUIRE(message);
  return std::get<wire::WeightsAnnouncement>(*message).version.get();
}

// Publishes until something at least as new is heard.
void hear_again(transport::Publisher& publisher, transport::Subscriber& subscriber,
                std::uint64_t version) {
  const Deadline deadline = testing::soon();
  while (true) {
    REQUIRE_FALSE(deadline.expired());
    static_cast<void>(publisher.publish(announcement(version)));
    const auto heard = subscriber.latest(Deadline::in(20ms));
    if (heard && version_in(*heard) >= version) return;
  }
}

TEST_CASE("a subscriber that does not read survives the end of its connection, again and again",
          "[fault][transport]") {
  transport::Context context;
  transport::SocketConfig config;
  config.queue_messages = 2;
  config.keepalive_ms = 20;
  config.dead_after_ms = 50;
  config.reconnect_min_ms = config.reconnect_max_ms = 10;
  transport::Publisher publisher(
      context, transport::Endpoint::parse("tcp://" + testing::loopback_host(2) + ":*"), config);
  NetworkProxy proxy(
      {{tcp_address(testing::loopback_host(3), 0),
        tcp_address(testing::loopback_host(2), std::stoi(publisher.endpoint().port()))}});
  transport::Subscriber subscriber(
      context,
      transport::Endpoint::parse("tcp://" + testing::loopback_host(3) + ":" +
                                 std::to_string(proxy.address().port())),
      config);
  std::uint64_t version = 1;
  for (int i = 0; i < 5; ++i) {
    hear_again(publisher, subscriber, ++version);
    // More than its queue holds; it does not read until the connection has long been gone.
    for (int n = 0; n < 100; ++n) {
      static_cast<void>(publisher.publish(announcement(++version)));
      std::this_thread::sleep_for(200us);
    }
    proxy.cut();
    std::this_thread::sleep_for(150ms);
    proxy.heal();
  }
  hear_again(publisher, subscriber, ++version);
}

}  // namespace
}  // namespace pacml
