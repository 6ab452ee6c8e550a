#include "common/transport/handshake_monitor.h"

#include <utility>

#include "common/clock.h"

namespace pacml::transport {
namespace {

constexpr int kHandshakeEvents =
    ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
    ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

}  // namespace

// Reports cannot grow many: the socket waits between two connections, and is listened to whenever
// it has nothing to say.
HandshakeMonitor::HandshakeMonitor(Context& context, zmq::socket_t& watched,
                                   HandshakeTrouble trouble)
    : events_(context, watched, kHandshakeEvents, "handshakes"), trouble_(std::move(trouble)) {}

void HandshakeMonitor::listen() {
  events_.take([this](std::uint16_t event, std::uint32_t value) {
    trouble_.heard(event, value, steady().now());
  });
}

std::optional<Trouble> HandshakeMonitor::trouble() {
  listen();
  return trouble_.now(steady().now());
}

}  // namespace pacml::transport
