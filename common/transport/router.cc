#include "common/transport/router.h"

#include "common/transport/unfinished_messages.h"
#include "common/transport/zmq_socket.h"

namespace pacml::transport {
namespace {

constexpr std::int64_t kMostMessageParts = wire::kMaxParts + 1;

}  // namespace

struct Router::Impl {
  Impl(Context& owner, const Endpoint& bind_to, const SocketConfig& config)
      : context(owner),
        socket(make_socket(context, zmq::socket_type::router, config)),
        unfinished(context, socket, kMostMessageParts * config.max_part_bytes),
        endpoint(bind_socket(context, socket, bind_to, config)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { unlink_bound(endpoint); }

  Context& context;
  zmq::socket_t socket;
  UnfinishedMessages unfinished;
  Endpoint endpoint;
  Waker waker;
};

Router::Router(Context& context, const Endpoint& bind_to, const SocketConfig& config)
    : impl_(std::make_unique<Impl>(context, bind_to, config)) {}

Router::~Router() = default;

const Endpoint& Router::endpoint() const { return impl_->endpoint; }

Result<Incoming> Router::receive(Deadline deadline) {
  std::string user;
  std::string* const wanted = impl_->context.native().encryption ? &user : nullptr;
  UnfinishedMessages& unfinished = impl_->unfinished;
  auto frame = receive_now(impl_->socket, wanted, &unfinished);
  unfinished.look(!frame);
  if (!frame && frame.error().code == Errc::kTimeout) {
    if (auto ready = wait_for(impl_->socket, ZMQ_POLLIN, deadline, &impl_->waker); !ready) {
      return tl::unexpected(ready.error());
    }
    frame = receive_now(impl_->socket, wanted, &unfinished);
  }
  if (!frame) return tl::unexpected(frame.error());
  // The socket itself puts the sender's routing id in front.
  const Bytes& id = frame->parts.front();
  Incoming incoming{PeerId{std::string(reinterpret_cast<const char*>(id.data()), id.size())}, {}};
  const auto& zap = impl_->context.native().zap;
  if (auto holder = zap ? parse_user(user) : std::nullopt) {
    incoming.revoked = !zap->allows(holder->key);
    incoming.key_name = std::move(holder->name);
  }
  frame->parts.erase(frame->parts.begin());
  incoming.frame = std::move(*frame);
  return incoming;
}

Result<void> Router::send(const PeerId& peer, wire::Frame&& frame) {
  auto sent = send_now(impl_->socket, &peer.bytes, frame);
  if (sent) frame.parts.clear();
  return sent;
}

void Router::wake() { impl_->waker.wake(); }

std::uint64_t Router::denied() const { return impl_->context.denied(); }

bool Router::lists(const std::string& key_name) const {
  const auto& zap = impl_->context.native().zap;
  return !zap || zap->lists(key_name);
}

}  // namespace pacml::transport
