#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bytes.h"

namespace pacml::wire {

// What the transport moves, as it is: part 0 is an envelope, the others are raw payload
// (docs/protocol.md). Value type.
struct Frame {
  std::vector<Bytes> parts;
  bool operator==(const Frame&) const = default;
};
[[nodiscard]] inline std::size_t frame_bytes(const Frame& frame) {
  std::size_t bytes = 0;
  for (const Bytes& part : frame.parts) bytes += part.size();
  return bytes;
}

// Envelope: magic u32, protocol version u16, message type u16, then one MessagePack array.
inline constexpr std::uint32_t kMagic = 0x4C434150;  // "PACL" as bytes
inline constexpr std::uint16_t kProtocolVersion = 10;
inline constexpr std::size_t kHeaderBytes = 8;

// A frame with more parts is refused without looking into them.
inline constexpr std::size_t kMaxParts = 4;

}  // namespace pacml::wire
