#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <map>
#include <zmq.hpp>

#include "common/clock.h"
#include "common/transport/context.h"
#include "common/transport/socket_events.h"

// Internal to common/transport.

namespace pacml::transport {

// Cuts off who begins a message that does not end. libzmq limits each part of a message, and how
// many messages wait, but gathers the parts of one message without a limit until its last one is
// there. So the bytes that a TCP connection has received since the last whole message that was
// taken out of the socket are bounded here; a connection of this machine's own (ipc) is of the same
// user, and is not watched. Thread-confined, as the socket is; destroyed before it.
class UnfinishedMessages {
 public:
  // Before the socket is bound. `limit`: bytes of one message; what comes until the next look, a
  // quarter of a second, may be on top.
  UnfinishedMessages(Context& context, zmq::socket_t& bound, std::int64_t limit);

  // A whole message, of which that is a part, has been taken out of the socket.
  void took(zmq::message_t& part);
  // Looks at all connections, if it is time to. `emptied`: nothing is left in the socket.
  void look(bool emptied);

 private:
  struct Connection {
    sockaddr_storage peer{};            // whose it is, since the system uses descriptors again
    std::uint64_t at_last_message = 0;  // bytes, as of the look after it
    bool has_finished_one = false;      // since the last look
    bool is_suspect = false;            // at the last look
  };
  void listen();
  void look_at(int fd, Connection& connection);

  SocketEvents events_;
  std::uint64_t limit_;
  std::map<int, Connection> connections_;  // by descriptor, which libzmq owns
  std::size_t taken_ = 0;                  // messages, since the last look
  TimePoint next_;
};

}  // namespace pacml::transport
