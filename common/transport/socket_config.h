#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace pacml::transport {

// Limits and patience of every socket.
struct SocketConfig {
  int queue_messages = 64;  // per peer and direction; >= 1
  // A peer that sends more in one part is cut off, before it is stored; >= 1024. Where the run's
  // own messages are larger, they are the limit (apps/roles/message_sizes.h).
  std::int64_t max_part_bytes = 1LL << 24;
  int handshake_ms = 5'000;    // to be connected, and then to be greeted
  int reconnect_min_ms = 100;  // first wait before connecting again
  int reconnect_max_ms = 500;  // it doubles up to this
  int keepalive_ms = 1'000;    // an idle connection is probed so often, in whole seconds; 0: never
  int dead_after_ms = 10'000;  // without an acknowledgement, a connection is closed
  bool allow_insecure_bind = false;  // bind where other hosts can reach, in the clear
  bool operator==(const SocketConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, SocketConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("queue_messages", c.queue_messages);
  v("max_part_bytes", c.max_part_bytes);
  v("handshake_ms", c.handshake_ms);
  v("reconnect_min_ms", c.reconnect_min_ms);
  v("reconnect_max_ms", c.reconnect_max_ms);
  v("keepalive_ms", c.keepalive_ms);
  v("dead_after_ms", c.dead_after_ms);
  v("allow_insecure_bind", c.allow_insecure_bind);
}

[[nodiscard]] std::vector<std::string> validate(const SocketConfig& config);

}  // namespace pacml::transport
