#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <zmq.hpp>

#include "common/clock.h"
#include "common/file_descriptor.h"
#include "common/result.h"
#include "common/transport/context.h"
#include "common/transport/endpoint.h"
#include "common/transport/socket_config.h"
#include "common/transport/zap_handler.h"
#include "common/wire/frame.h"

// What the four socket classes share. Internal to common/transport.

namespace pacml::transport {

class UnfinishedMessages;

struct Context::Native {
  // A socket whose handshakes are watched takes three places.
  Native(int io_threads, std::optional<Encryption> e, int max_sockets)
      : zmq(io_threads, 3 * max_sockets), encryption(std::move(e)) {
    if (encryption && !encryption->allowed_clients.empty()) {
      zap.emplace(zmq, encryption->allowed_clients);
    }
  }
  zmq::context_t zmq;
  const std::optional<Encryption> encryption;
  std::optional<ZapHandler> zap;
};

// Ends another thread's poll. An eventfd, since a ZeroMQ socket may be used by one thread only.
// Thread-safe.
class Waker {
 public:
  Waker();
  void wake() const;
  // Forgets earlier wake()s.
  void drain() const;
  [[nodiscard]] int fd() const { return event_.get(); }

 private:
  FileDescriptor event_;
};

// A socket with every option set. Options live in one place: make_socket.
[[nodiscard]] zmq::socket_t make_socket(Context& context, zmq::socket_type type,
                                        const SocketConfig& config);

// Returns where it is bound; an ipc address lets in the user's own processes only. UserError, or
// TryAgainError where that may pass: in use, no such address; one that other hosts reach, without
// keys and not allowed to.
[[nodiscard]] Endpoint bind_socket(Context& context, zmq::socket_t& socket,
                                   const Endpoint& endpoint, const SocketConfig& config);
// Removes the file of a bound ipc socket, which libzmq leaves behind. Before the socket closes, so
// that it cannot be another one's by then.
void unlink_bound(const Endpoint& endpoint);
// UserError: not an address to connect to.
void connect_socket(zmq::socket_t& socket, const Endpoint& endpoint);

// Waits for `events` (ZMQ_POLLIN or ZMQ_POLLOUT) or, where a waker is given, for its wake().
// kTimeout: neither, or woken. kStopped.
[[nodiscard]] Result<void> wait_for(zmq::socket_t& socket, short events, Deadline deadline,
                                    Waker* waker);

// All parts of the next message; what exceeds wire::kMaxParts + 1 is dropped, so that decoding
// refuses the frame without our having stored it. `user`, where given, becomes what the
// authentication calls the sender (zap.h); `unfinished` learns of it. kTimeout: nothing is there
// now. kStopped.
[[nodiscard]] Result<wire::Frame> receive_now(zmq::socket_t& socket, std::string* user = nullptr,
                                              UnfinishedMessages* unfinished = nullptr);

// The parts without waiting, after `prefix` where given (a routing id). kTimeout: full.
// kDisconnected: no such peer. kStopped. On error nothing was sent.
[[nodiscard]] Result<void> send_now(zmq::socket_t& socket, const std::string* prefix,
                                    const wire::Frame& frame);

}  // namespace pacml::transport
