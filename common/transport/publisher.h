#pragma once

#include <memory>

#include "common/transport/channel.h"
#include "common/transport/context.h"
#include "common/transport/endpoint.h"
#include "common/transport/socket_config.h"

namespace pacml::transport {

// Owns a ZeroMQ PUB socket; for small frames. Thread-confined: built, used and destroyed by one
// thread.
class Publisher final : public FramePublisher {
 public:
  // Throws UserError as Router does.
  Publisher(Context& context, const Endpoint& bind_to, const SocketConfig& config = {});
  ~Publisher() override;
  [[nodiscard]] const Endpoint& endpoint() const;

  [[nodiscard]] Result<void> publish(wire::Frame&& frame) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::transport
