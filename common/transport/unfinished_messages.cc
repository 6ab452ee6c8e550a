#include "common/transport/unfinished_messages.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstring>
#include <utility>

namespace pacml::transport {
namespace {

constexpr std::chrono::milliseconds kEvery{250};
constexpr int kConnectionEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED;

bool is_tcp(const sockaddr_storage& peer) {
  return peer.ss_family == AF_INET || peer.ss_family == AF_INET6;
}

// Of a connection that is gone: one of no family.
sockaddr_storage peer_of(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
  return peer;
}

bool is_same(const sockaddr_storage& a, const sockaddr_storage& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// In the life of the connection; 0: the system does not say.
std::uint64_t bytes_received(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_received;
}

}  // namespace

UnfinishedMessages::UnfinishedMessages(Context& context, zmq::socket_t& bound, std::int64_t limit)
    : events_(context, bound, kConnectionEvents, "connections"),
      limit_(static_cast<std::uint64_t>(limit)) {}

void UnfinishedMessages::took(zmq::message_t& part) {
  ++taken_;
  const auto found = connections_.find(zmq_msg_get(part.handle(), ZMQ_SRCFD));
  if (found != connections_.end()) found->second.has_finished_one = true;
}

void UnfinishedMessages::look(bool emptied) {
  if (steady().now() < next_) return;
  // Who has finished a message, but was not served since, is not to be suspected. The socket takes
  // messages from its connections in turns.
  if (!emptied && taken_ < 2 * connections_.size()) return;
  next_ = steady().now() + kEvery;
  taken_ = 0;
  listen();
  for (auto& [fd, connection] : connections_) look_at(fd, connection);
}

void UnfinishedMessages::look_at(int fd, Connection& connection) {
  const std::uint64_t received = bytes_received(fd);
  if (std::exchange(connection.has_finished_one, false)) {
    connection.at_last_message = received;
    connection.is_suspect = false;
    return;
  }
  if (received < connection.at_last_message + limit_) {
    connection.is_suspect = false;
    return;
  }
  // Twice in a row: between the two whatever was whole has been taken.
  if (!std::exchange(connection.is_suspect, true)) return;
  if (!is_same(peer_of(fd), connection.peer)) return;  // it has just gone
  spdlog::warn("a client that began a message of more than {} bytes is cut off", limit_);
  ::shutdown(fd, SHUT_RDWR);  // libzmq sees its end, and lets go of what it gathered
}

void UnfinishedMessages::listen() {
  events_.take([this](std::uint16_t event, std::uint32_t value) {
    const int fd = static_cast<int>(value);
    connections_.erase(fd);
    const auto peer = event == ZMQ_EVENT_ACCEPTED ? peer_of(fd) : sockaddr_storage{};
    if (is_tcp(peer)) connections_[fd] = {.peer = peer};
  });
}

}  // namespace pacml::transport
