#pragma once

#include <optional>
#include <zmq.hpp>

#include "common/transport/channel.h"
#include "common/transport/context.h"
#include "common/transport/handshake_trouble.h"
#include "common/transport/socket_events.h"

// Internal to common/transport.

namespace pacml::transport {

// Listens to a socket's own reports of its handshakes. Thread-confined, as the socket is; destroyed
// before it.
class HandshakeMonitor {
 public:
  // Before the socket connects.
  HandshakeMonitor(Context& context, zmq::socket_t& watched, HandshakeTrouble trouble);

  // Takes in what has been reported. Never waits.
  void listen();
  [[nodiscard]] std::optional<Trouble> trouble();

 private:
  SocketEvents events_;
  HandshakeTrouble trouble_;
};

}  // namespace pacml::transport
