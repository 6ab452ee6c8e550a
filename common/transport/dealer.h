#pragma once

#include <memory>

#include "common/transport/channel.h"
#include "common/transport/context.h"
#include "common/transport/endpoint.h"
#include "common/transport/socket_config.h"

namespace pacml::transport {

// Owns a ZeroMQ DEALER socket that connects to one Router, now or as soon as it is there, and again
// when the connection breaks; each connection is a new peer to the Router. Thread-confined: built,
// used and destroyed by one thread; wake() is thread-safe.
class Dealer final : public FrameClient {
 public:
  // kWatched: trouble() tells why there is no connection, for two files of the process more.
  enum class Handshakes { kIgnored, kWatched };
  // Throws UserError: the address cannot be connected to (an unknown kind or device).
  Dealer(Context& context, const Endpoint& connect_to, const SocketConfig& config = {},
         Handshakes handshakes = Handshakes::kIgnored);
  ~Dealer() override;

  [[nodiscard]] Result<void> send(wire::Frame&& frame, Deadline deadline) override;
  [[nodiscard]] Result<wire::Frame> receive(Deadline deadline) override;
  void wake() override;
  [[nodiscard]] std::string address() const override;
  [[nodiscard]] std::optional<Trouble> trouble() override;
  // For those who wait for many dealers at once: readable when receive() may have something. That
  // is news only as long as receive() said kTimeout since the last call of anything else here: what
  // comes during another call is not told again.
  [[nodiscard]] int ready_fd() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::transport
