#include "common/transport/socket_config.h"

#include <cstdint>

namespace pacml::transport {

std::vector<std::string> validate(const SocketConfig& c) {
  std::vector<std::string> problems;
  const auto require = [&](bool holds, const char* sentence) {
    if (!holds) problems.emplace_back(sentence);
  };
  require(c.queue_messages >= 1, "queue_messages must be at least 1");
  require(c.max_part_bytes >= 1024, "max_part_bytes must be at least 1024");
  require(c.max_part_bytes <= std::int64_t{1} << 50, "max_part_bytes must be at most 2^50");
  require(c.handshake_ms >= 1, "handshake_ms must be at least 1");
  require(c.reconnect_min_ms >= 1, "reconnect_min_ms must be at least 1");
  require(c.reconnect_max_ms >= c.reconnect_min_ms,
          "reconnect_max_ms must be at least reconnect_min_ms");
  require(c.keepalive_ms >= 0, "keepalive_ms must be at least 0");
  require(c.keepalive_ms <= 32'767'000, "keepalive_ms must be at most 32767000");
  require(c.dead_after_ms > c.keepalive_ms, "dead_after_ms must be greater than keepalive_ms");
  constexpr int kDay = 86'400'000;  // and the sum of two is still a number of milliseconds
  require(c.handshake_ms <= kDay, "handshake_ms must be at most 86400000, a day");
  require(c.reconnect_max_ms <= kDay, "reconnect_max_ms must be at most 86400000, a day");
  require(c.dead_after_ms <= kDay, "dead_after_ms must be at most 86400000, a day");
  return problems;
}

}  // namespace pacml::transport
