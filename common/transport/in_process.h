#pragma once

#include <cstddef>
#include <memory>

#include "common/transport/channel.h"

namespace pacml::transport {

// The transport inside one process: queues instead of sockets, the same contract. For tests and
// runs of one process. Everything it hands out shares its state, so order of destruction is free.
// The hub itself is thread-safe.
class InProcessHub {
 public:
  // `queue_frames`: per peer and direction.
  explicit InProcessHub(std::size_t queue_frames = 64);
  ~InProcessHub();
  // There is one server; what clients sent before it was made waits for it.
  [[nodiscard]] std::unique_ptr<FrameServer> make_server();
  [[nodiscard]] std::unique_ptr<FrameClient> connect();
  [[nodiscard]] std::unique_ptr<FramePublisher> make_publisher();
  [[nodiscard]] std::unique_ptr<FrameSubscriber> subscribe();
  // As Context::stop.
  void stop();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace pacml::transport
