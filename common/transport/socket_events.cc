#include "common/transport/socket_events.h"

#include <atomic>
#include <cstring>
#include <string>

#include "common/check.h"
#include "common/transport/zmq_socket.h"

namespace pacml::transport {

SocketEvents::SocketEvents(Context& context, zmq::socket_t& watched, int events,
                           std::string_view name)
    : watched_(&watched), reports_(context.native().zmq, zmq::socket_type::pair) {
  static std::atomic<std::uint64_t> next{0};
  const std::string endpoint = "inproc://pacml." + std::string(name) + "." + std::to_string(next++);
  const int monitored = zmq_socket_monitor(watched.handle(), endpoint.c_str(), events);
  PACML_CHECK(monitored == 0, "a socket has one monitor");
  reports_.set(zmq::sockopt::linger, 0);
  reports_.set(zmq::sockopt::rcvhwm, 0);  // a full queue would stop the thread of all sockets
  reports_.connect(endpoint);
}

SocketEvents::~SocketEvents() {
  // Reports to nobody would stop it as well.
  zmq_socket_monitor(watched_->handle(), nullptr, 0);
}

void SocketEvents::take(const std::function<void(std::uint16_t event, std::uint32_t value)>& use) {
  try {
    zmq::message_t part;
    while (reports_.recv(part, zmq::recv_flags::dontwait)) {
      // The first part: event (16 bits) and value (32 bits); the second one: the address.
      std::uint16_t event = 0;
      std::uint32_t value = 0;
      if (part.size() == sizeof event + sizeof value) {
        std::memcpy(&event, part.data(), sizeof event);
        std::memcpy(&value, part.data<char>() + sizeof event, sizeof value);
        use(event, value);
      }
      while (part.more()) static_cast<void>(reports_.recv(part));
    }
  } catch (const zmq::error_t& e) {
    PACML_CHECK(e.num() == ETERM || e.num() == EINTR, "reading from a socket of our own");
  }
}

}  // namespace pacml::transport
