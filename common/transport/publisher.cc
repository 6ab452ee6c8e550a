#include "common/transport/publisher.h"

#include "common/transport/unfinished_messages.h"
#include "common/transport/zmq_socket.h"

namespace pacml::transport {
namespace {

// Of all that one subscriber ever says: it subscribes, and is silent.
constexpr std::int64_t kLongestSubscription = 1 << 20;

}  // namespace

struct Publisher::Impl {
  Impl(Context& context, const Endpoint& bind_to, const SocketConfig& config)
      : socket(make_socket(context, zmq::socket_type::pub, config)),
        unfinished(context, socket, kLongestSubscription),
        endpoint(bind_socket(context, socket, bind_to, config)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { unlink_bound(endpoint); }

  zmq::socket_t socket;
  UnfinishedMessages unfinished;
  Endpoint endpoint;
};

Publisher::Publisher(Context& context, const Endpoint& bind_to, const SocketConfig& config)
    : impl_(std::make_unique<Impl>(context, bind_to, config)) {}

Publisher::~Publisher() = default;

const Endpoint& Publisher::endpoint() const { return impl_->endpoint; }

Result<void> Publisher::publish(wire::Frame&& frame) {
  impl_->unfinished.look(true);
  auto sent = send_now(impl_->socket, nullptr, frame);
  if (sent) frame.parts.clear();
  return sent;
}

}  // namespace pacml::transport
