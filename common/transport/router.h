#pragma once

#include <memory>

#include "common/transport/channel.h"
#include "common/transport/context.h"
#include "common/transport/endpoint.h"
#include "common/transport/socket_config.h"

namespace pacml::transport {

// Owns a ZeroMQ ROUTER socket. Thread-confined: built, used and destroyed by one thread; wake() is
// thread-safe.
class Router final : public FrameServer {
 public:
  // Throws UserError: the address is in use, does not exist here, or is reachable from other hosts
  // while the context has no keys and config.allow_insecure_bind is false. Borrows the context.
  Router(Context& context, const Endpoint& bind_to, const SocketConfig& config = {});
  ~Router() override;
  // Where it is bound: with the port that the system chose for "*".
  [[nodiscard]] const Endpoint& endpoint() const;

  [[nodiscard]] Result<Incoming> receive(Deadline deadline) override;
  [[nodiscard]] Result<void> send(const PeerId& peer, wire::Frame&& frame) override;
  void wake() override;
  [[nodiscard]] std::uint64_t denied() const override;
  [[nodiscard]] bool lists(const std::string& key_name) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::transport
