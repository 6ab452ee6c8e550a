#include "common/transport/dealer.h"

#include "common/transport/handshake_monitor.h"
#include "common/transport/zmq_socket.h"

namespace pacml::transport {

struct Dealer::Impl {
  Impl(Context& context, const Endpoint& connect_to, const SocketConfig& config)
      : address(connect_to.str()), socket(make_socket(context, zmq::socket_type::dealer, config)) {}

  std::string address;
  zmq::socket_t socket;
  std::optional<HandshakeMonitor> handshakes;
  Waker waker;
};

Dealer::Dealer(Context& context, const Endpoint& connect_to, const SocketConfig& config,
               Handshakes handshakes)
    : impl_(std::make_unique<Impl>(context, connect_to, config)) {
  if (handshakes == Handshakes::kWatched) {
    // A failure is told for as long as two more attempts might take.
    const std::chrono::milliseconds attempt(config.reconnect_max_ms + config.handshake_ms);
    const bool encrypted = context.native().encryption.has_value();
    impl_->handshakes.emplace(context, impl_->socket,
                              HandshakeTrouble(impl_->address, encrypted, 2 * attempt));
  }
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
  if (impl_->handshakes) impl_->handshakes->listen();
  if (auto ready = wait_for(impl_->socket, ZMQ_POLLIN, deadline, &impl_->waker); !ready) {
    return tl::unexpected(ready.error());
  }
  return receive_now(impl_->socket);
}

void Dealer::wake() { impl_->waker.wake(); }

std::string Dealer::address() const { return impl_->address; }

std::optional<Trouble> Dealer::trouble() {
  return impl_->handshakes ? impl_->handshakes->trouble() : std::nullopt;
}

int Dealer::ready_fd() const { return impl_->socket.get(zmq::sockopt::fd); }

}  // namespace pacml::transport
