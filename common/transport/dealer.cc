#include "common/transport/dealer.h"

#include "common/transport/zmq_socket.h"

namespace pacml::transport {

struct Dealer::Impl {
  Impl(Context& context, const SocketConfig& config)
      : socket(make_socket(context, zmq::socket_type::dealer, config)) {}

  zmq::socket_t socket;
  Waker waker;
};

Dealer::Dealer(Context& context, const Endpoint& connect_to, const SocketConfig& config)
    : impl_(std::make_unique<Impl>(context, config)) {
  connect_socket(impl_->socket, connect_to);
}

Dealer::~Dealer() = default;

Result<void> Dealer::send(wire::Frame&& frame, Deadline deadline) {
  auto sent = send_now(impl_->socket, nullptr, frame);
  while (!sent && sent.error().code == Errc::kTimeout) {
    if (auto ready = wait_for(impl_->socket, ZMQ_POLLOUT, deadline, nullptr); !ready) return ready;
    sent = send_now(impl_->socket, nullptr, frame);
  }
  if (sent) frame.parts.clear();
  return sent;
}

Result<wire::Frame> Dealer::receive(Deadline deadline) {
  auto frame = receive_now(impl_->socket);
  if (frame || frame.error().code != Errc::kTimeout) return frame;
  if (auto ready = wait_for(impl_->socket, ZMQ_POLLIN, deadline, &impl_->waker); !ready) {
    return tl::unexpected(ready.error());
  }
  return receive_now(impl_->socket);
}

void Dealer::wake() { impl_->waker.wake(); }

}  // namespace pacml::transport
