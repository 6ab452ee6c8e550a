#pragma once

#include <memory>

#include "common/transport/channel.h"
#include "common/transport/context.h"
#include "common/transport/endpoint.h"
#include "common/transport/socket_config.h"

namespace pacml::transport {

// Owns a ZeroMQ SUB socket that hears everything from one Publisher, and subscribes again after it
// restarts. Thread-confined: built, used and destroyed by one thread.
class Subscriber final : public FrameSubscriber {
 public:
  // Throws UserError as Dealer does.
  Subscriber(Context& context, const Endpoint& connect_to, const SocketConfig& config = {});
  ~Subscriber() override;

  [[nodiscard]] Result<wire::Frame> latest(Deadline deadline) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::transport
