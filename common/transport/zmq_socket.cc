#include "common/transport/zmq_socket.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "common/check.h"
#include "common/file_descriptor.h"
#include "common/transport/unfinished_messages.h"
#include "common/try_again.h"
#include "common/unix_socket.h"

namespace pacml::transport {
namespace {

// Connections that wait to be taken by a bound socket: as many as the actors of a large run, which
// come all at once. The system cuts it to its own limit (net.core.somaxconn).
constexpr int kBacklog = 8192;

constexpr std::int64_t kLargestAnnouncement = 4096;  // bytes, many times over

// What a failed call means to the caller; anything unexpected is a bug of ours.
tl::unexpected<Error> translate(const zmq::error_t& e) {
  switch (e.num()) {
    case ETERM:
      return fail(Errc::kStopped, "the transport is closing");
    case EHOSTUNREACH:
      return fail(Errc::kDisconnected, "no such peer");
    default:
      check_failed("zmq call", __FILE__, __LINE__, e.what());
  }
}

// libzmq would make the file of an ipc socket as the umask says.
FileDescriptor listen_for_own_processes(const std::string& path, const std::string& where) {
  switch (look_at_socket_path(path)) {
    case AtSocketPath::kListener:
      throw TryAgainError(where + "the address is already in use");
    case AtSocketPath::kOtherFile:
      throw UserError(where + "there is a file that is no socket");
    case AtSocketPath::kFree:
      break;
  }
  FileDescriptor socket = listen_at_socket_path(path, kBacklog);
  if (!socket.is_open()) {
    const int error = errno;
    throw_error({Errc::kIo, where + std::strerror(error), passes_by_itself(error)});
  }
  return socket;
}

// ZMQ_ZAP_ENFORCE_DOMAIN, which libzmq has since 4.3 and declares among its drafts only.
constexpr int kZapEnforceDomain = 93;

void encrypt(Context& context, zmq::socket_t& socket, zmq::socket_type type) {
  const Encryption& encryption = *context.native().encryption;
  const bool binds = type == zmq::socket_type::router || type == zmq::socket_type::pub;
  socket.set(zmq::sockopt::curve_secretkey, encryption.own.secret_key);
  if (binds) {
    PACML_CHECK(context.native().zap, "who may connect to a server is decided by a list");
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::zap_domain, std::string(kZapDomain));
    // Nobody to ask means no, not yes: a second lock beside the check above.
    const int yes = 1;
    zmq_setsockopt(socket.handle(), kZapEnforceDomain, &yes, sizeof yes);
  } else {
    socket.set(zmq::sockopt::curve_publickey, encryption.own.public_key);
    socket.set(zmq::sockopt::curve_serverkey, encryption.server_public_key);
  }
}

// Lets the system find out that an idle connection is dead, by probes. Not by ZeroMQ's own
// heartbeats (docs/adr/0010-dead-connections.md).
void probe_when_idle(zmq::socket_t& socket, const SocketConfig& config) {
  const int every = std::max(1, config.keepalive_ms / 1000);  // seconds
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, every);
  // Linux counts up to 127 probes; asked for more, ZeroMQ would never be connected, without a word.
  constexpr int kMostProbes = 127;
  const int silence = std::max(1, config.dead_after_ms / 1000);
  const int between = std::max(every, (silence + kMostProbes - 1) / kMostProbes);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, between);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, std::max(1, silence / between));
}

// Sends one part. False: the queue is full or, in mid-message, the connection is gone.
bool send_part(zmq::socket_t& socket, const void* data, std::size_t size, bool first, bool more) {
  const auto flags = more ? zmq::send_flags::sndmore : zmq::send_flags::none;
  zmq::message_t message(data, size);
  bool may_retry = first;  // a part in the middle would be taken for a new message
  while (true) {
    try {
      if (socket.send(message, flags)) return true;
      if (!may_retry) return false;
      // A socket looks at most every few milliseconds for news of what its peers have taken; asking
      // for its events makes it look now, so that full means full.
      static_cast<void>(socket.get(zmq::sockopt::events));
      may_retry = false;
    } catch (const zmq::error_t& e) {
      if (e.num() != EINTR) throw;
    }
  }
}

// What the authentication's answer called the connection's peer.
std::string user_id_of(zmq::message_t& message) {
  const char* const id = zmq_msg_gets(message.handle(), "User-Id");
  return id == nullptr ? std::string{} : std::string{id};
}

// False: nothing is there.
bool receive_part(zmq::socket_t& socket, zmq::message_t& message) {
  while (true) {
    try {
      return socket.recv(message, zmq::recv_flags::dontwait).has_value();
    } catch (const zmq::error_t& e) {
      if (e.num() != EINTR) throw;
    }
  }
}

// A PUB hears nothing but subscriptions, a SUB nothing but announcements.
std::int64_t largest_part(zmq::socket_type type, const SocketConfig& config) {
  const bool announces = type == zmq::socket_type::pub || type == zmq::socket_type::sub;
  return announces ? std::min(config.max_part_bytes, kLargestAnnouncement) : config.max_part_bytes;
}

}  // namespace

Waker::Waker() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  PACML_CHECK(event_.is_open(), "out of file descriptors");
}

void Waker::wake() const {
  const std::uint64_t one = 1;
  // The counter being full is as good as adding to it.
  [[maybe_unused]] const ssize_t written = ::write(fd(), &one, sizeof one);
}

void Waker::drain() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(fd(), &count, sizeof count);
}

zmq::socket_t make_socket(Context& context, zmq::socket_type type, const SocketConfig& config) {
  zmq::socket_t socket(context.native().zmq, type);
  socket.set(zmq::sockopt::linger, 0);    // closing never waits
  socket.set(zmq::sockopt::sndtimeo, 0);  // neither does sending; waits are wait_for's
  socket.set(zmq::sockopt::backlog, kBacklog);
  socket.set(zmq::sockopt::sndhwm, config.queue_messages);
  socket.set(zmq::sockopt::rcvhwm, config.queue_messages);
  socket.set(zmq::sockopt::maxmsgsize, largest_part(type, config));
  // Where packets vanish, the system would try for two minutes, ever more rarely.
  socket.set(zmq::sockopt::connect_timeout, config.handshake_ms);
  socket.set(zmq::sockopt::handshake_ivl, config.handshake_ms);
  socket.set(zmq::sockopt::reconnect_ivl, config.reconnect_min_ms);
  socket.set(zmq::sockopt::reconnect_ivl_max, config.reconnect_max_ms);
  if (config.keepalive_ms > 0) probe_when_idle(socket, config);
  socket.set(zmq::sockopt::tcp_maxrt, config.dead_after_ms);  // where it is not: unacknowledged
  if (context.native().encryption) encrypt(context, socket, type);
  if (type == zmq::socket_type::router) socket.set(zmq::sockopt::router_mandatory, true);
  if (type == zmq::socket_type::sub) socket.set(zmq::sockopt::subscribe, "");
  return socket;
}

Endpoint bind_socket(Context& context, zmq::socket_t& socket, const Endpoint& endpoint,
                     const SocketConfig& config) {
  const std::string where = "cannot bind " + endpoint.str() + ": ";
  const bool is_encrypted = context.native().encryption.has_value();
  if (!endpoint.is_local() && !is_encrypted && !config.allow_insecure_bind) {
    throw UserError(where +
                    "other hosts can reach that address, and there are no keys; make some with "
                    "`pacml keygen DIR` and give them with --keys DIR, use 127.0.0.1, or set "
                    "transport.allow_insecure_bind on a network where you trust everybody");
  }
  try {
    if (endpoint.kind() == Endpoint::Kind::kIpc) {
      socket.set(zmq::sockopt::use_fd, listen_for_own_processes(endpoint.path(), where).release());
    }
    socket.set(zmq::sockopt::ipv6, endpoint.is_ipv6());
    socket.bind(endpoint.str());
  } catch (const zmq::error_t& e) {
    if (e.num() == EADDRINUSE) throw TryAgainError(where + "the address is already in use");
    throw_error({Errc::kIo, where + e.what(), passes_by_itself(e.num())});
  }
  return Endpoint::parse(socket.get(zmq::sockopt::last_endpoint));
}

void unlink_bound(const Endpoint& endpoint) {
  if (endpoint.kind() == Endpoint::Kind::kIpc) ::unlink(endpoint.path().c_str());
}

void connect_socket(zmq::socket_t& socket, const Endpoint& endpoint) {
  try {
    socket.set(zmq::sockopt::ipv6, endpoint.is_ipv6());
    socket.connect(endpoint.str());
  } catch (const zmq::error_t& e) {
    throw UserError("cannot connect to " + endpoint.str() + ": " + e.what());
  }
}

Result<void> wait_for(zmq::socket_t& socket, short events, Deadline deadline, Waker* waker) {
  std::array<zmq::pollitem_t, 2> items{};
  items[0] = {socket.handle(), 0, events, 0};
  items[1] = {nullptr, waker == nullptr ? -1 : waker->fd(), ZMQ_POLLIN, 0};
  const std::size_t count = waker == nullptr ? 1 : 2;
  while (true) {
    try {
      zmq::poll(items.data(), count, deadline.remaining());
    } catch (const zmq::error_t& e) {
      if (e.num() == EINTR) continue;
      return translate(e);
    }
    if (waker != nullptr && (items[1].revents & ZMQ_POLLIN) != 0) {
      waker->drain();
      if ((items[0].revents & events) == 0) return fail(Errc::kTimeout, "woken");
    }
    if ((items[0].revents & events) != 0) return {};
    if (deadline.expired()) return fail(Errc::kTimeout, "nothing came before the deadline");
  }
}

Result<wire::Frame> receive_now(zmq::socket_t& socket, std::string* user,
                                UnfinishedMessages* unfinished) {
  wire::Frame frame;
  try {
    zmq::message_t message;
    do {
      // Parts of one message arrive together: only the first can be missing.
      if (!receive_part(socket, message)) return fail(Errc::kTimeout, "nothing is there");
      if (frame.parts.size() > wire::kMaxParts + 1) continue;
      const auto* data = message.data<std::byte>();
      frame.parts.emplace_back(data, data + message.size());
    } while (message.more());
    if (user != nullptr) *user = user_id_of(message);
    if (unfinished != nullptr) unfinished->took(message);
  } catch (const zmq::error_t& e) {
    return translate(e);
  }
  return frame;
}

Result<void> send_now(zmq::socket_t& socket, const std::string* prefix, const wire::Frame& frame) {
  PACML_CHECK(!frame.parts.empty(), "a frame has an envelope");
  try {
    bool taken = true;
    if (prefix != nullptr) {
      if (!send_part(socket, prefix->data(), prefix->size(), true, true)) {
        return fail(Errc::kTimeout, "the peer's queue is full");
      }
    }
    for (std::size_t i = 0; i < frame.parts.size(); ++i) {
      const Bytes& part = frame.parts[i];
      const bool first = i == 0 && prefix == nullptr;
      const bool more = i + 1 < frame.parts.size();
      const bool sent = send_part(socket, part.data(), part.size(), first, more);
      if (!sent && first) return fail(Errc::kTimeout, "the queue is full");
      // A connection that breaks in the middle of a message drops the whole of it; the rest is
      // still handed over, because the socket counts parts to find the message's end.
      taken = taken && sent;
    }
    if (!taken) return fail(Errc::kDisconnected, "the connection broke in mid-message");
  } catch (const zmq::error_t& e) {
    return translate(e);
  }
  return {};
}

}  // namespace pacml::transport
