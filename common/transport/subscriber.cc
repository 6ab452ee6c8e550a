#include "common/transport/subscriber.h"

#include "common/transport/zmq_socket.h"

namespace pacml::transport {

struct Subscriber::Impl {
  Impl(Context& context, const SocketConfig& config)
      : socket(make_socket(context, zmq::socket_type::sub, config)) {}

  zmq::socket_t socket;
};

Subscriber::Subscriber(Context& context, const Endpoint& connect_to, const SocketConfig& config)
    : impl_(std::make_unique<Impl>(context, config)) {
  connect_socket(impl_->socket, connect_to);
}

Subscriber::~Subscriber() = default;

// ZMQ_CONFLATE would keep the newest by itself, but forbids frames of several parts.
Result<wire::Frame> Subscriber::latest(Deadline deadline) {
  auto newest = receive_now(impl_->socket);
  if (!newest && newest.error().code == Errc::kTimeout) {
    if (auto ready = wait_for(impl_->socket, ZMQ_POLLIN, deadline, nullptr); !ready) {
      return tl::unexpected(ready.error());
    }
    newest = receive_now(impl_->socket);
  }
  while (newest) {
    auto next = receive_now(impl_->socket);
    if (!next) break;
    newest = std::move(next);
  }
  return newest;
}

}  // namespace pacml::transport
