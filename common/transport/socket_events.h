#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <zmq.hpp>

#include "common/transport/context.h"

// Internal to common/transport.

namespace pacml::transport {

// What a socket reports of its connections (zmq_socket_monitor). Thread-confined, as the socket is;
// destroyed before it.
class SocketEvents {
 public:
  // `events`: ZMQ_EVENT_ flags. `name`: of what listens, for the address. A socket has one listener
  // (PACML_CHECK). Before the socket is bound or connects.
  SocketEvents(Context& context, zmq::socket_t& watched, int events, std::string_view name);
  SocketEvents(const SocketEvents&) = delete;
  SocketEvents& operator=(const SocketEvents&) = delete;
  ~SocketEvents();

  // Calls use(event, value) for each report that has come: what the value is depends on the event.
  // Never waits. To be called often: reports pile up.
  void take(const std::function<void(std::uint16_t event, std::uint32_t value)>& use);

 private:
  zmq::socket_t* watched_;
  zmq::socket_t reports_;
};

}  // namespace pacml::transport
