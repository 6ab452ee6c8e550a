#include "common/transport/socket_config.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/config/dump.h"
#include "tests/support/catch.h"

namespace pacml::transport {
namespace {

TEST_CASE("the defaults are valid and read back from their dump", "[transport]") {
  REQUIRE(validate(SocketConfig{}).empty());
  const std::string text = dump_config(SocketConfig{});
  REQUIRE(read_config<SocketConfig>(ConfigSource::from_text("x", text)) == SocketConfig{});
}

TEST_CASE("every impossible setting is reported by its key", "[transport]") {
  const SocketConfig wrong{.queue_messages = 0,
                           .max_part_bytes = 10,
                           .handshake_ms = 0,
                           .reconnect_min_ms = 0,
                           .reconnect_max_ms = -1,
                           .keepalive_ms = -1,
                           .dead_after_ms = -2};
  REQUIRE(validate(wrong).size() == 7);
  constexpr int kMost = std::numeric_limits<int>::max();  // its sum with another is no number
  REQUIRE(validate(SocketConfig{
                       .handshake_ms = kMost, .reconnect_max_ms = kMost, .dead_after_ms = kMost})
              .size() == 3);
  // Five of them are counted together.
  REQUIRE(validate(SocketConfig{.max_part_bytes = std::numeric_limits<std::int64_t>::max()}) ==
          std::vector<std::string>{"max_part_bytes must be at most 2^50"});
}

}  // namespace
}  // namespace pacml::transport
