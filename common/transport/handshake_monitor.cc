#include "common/transport/handshake_monitor.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "common/check.h"
#include "common/transport/zmq_socket.h"

namespace pacml::transport {
namespace {

constexpr int kHandshakeEvents =
    ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
    ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

}  // namespace

HandshakeMonitor::HandshakeMonitor(Context& context, zmq::socket_t& watched,
                                   HandshakeTrouble trouble)
    : watched_(&watched),
      reports_(context.native().zmq, zmq::socket_type::pair),
      trouble_(std::move(trouble)) {
  static std::atomic<std::uint64_t> next{0};
  const std::string endpoint = "inproc://pacml.handshakes." + std::to_string(next++);
  const int monitored = zmq_socket_monitor(watched.handle(), endpoint.c_str(), kHandshakeEvents);
  PACML_CHECK(monitored == 0, "a socket has one monitor");
  reports_.set(zmq::sockopt::linger, 0);
  // A full queue would stop the thread that all sockets share. It cannot grow long: the socket
  // waits between two connections, and is listened to whenever it has nothing to say.
  reports_.set(zmq::sockopt::rcvhwm, 0);
  reports_.connect(endpoint);
}

HandshakeMonitor::~HandshakeMonitor() {
  // Reports to nobody would block as well.
  zmq_socket_monitor(watched_->handle(), nullptr, 0);
}

void HandshakeMonitor::listen() {
  try {
    zmq::message_t part;
    while (reports_.recv(part, zmq::recv_flags::dontwait)) {
      // The first part: event (16 bits) and value (32 bits); the second one: the address.
      std::uint16_t event = 0;
      std::uint32_t value = 0;
      if (part.size() == sizeof event + sizeof value) {
        std::memcpy(&event, part.data(), sizeof event);
        std::memcpy(&value, part.data<char>() + sizeof event, sizeof value);
        trouble_.heard(event, value, steady().now());
      }
      while (part.more()) static_cast<void>(reports_.recv(part));
    }
  } catch (const zmq::error_t& e) {
    PACML_CHECK(e.num() == ETERM || e.num() == EINTR, "reading from a socket of our own");
  }
}

std::optional<Trouble> HandshakeMonitor::trouble() {
  listen();
  return trouble_.now(steady().now());
}

}  // namespace pacml::transport
