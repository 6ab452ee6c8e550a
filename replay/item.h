#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pacml::replay {

// Names one item for ever: a slot of the table, and which of its tenants. A key that outlives its
// item names nothing; it never names the slot's next tenant. (After 2^32 tenants of one slot the
// numbers begin anew.) Value type.
struct ItemKey {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;

  // As one number, for messages.
  [[nodiscard]] constexpr std::uint64_t pack() const {
    return (std::uint64_t{generation} << 32) | slot;
  }
  [[nodiscard]] static constexpr ItemKey unpack(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32)};
  }
  bool operator==(const ItemKey&) const = default;
};

// One draw.
struct SampledItem {
  ItemKey key;
  double probability = 0;              // of this draw, among the table's items when it was made
  std::span<const std::byte> payload;  // borrowed: until the table's next non-const call
};

// What a learner found out about an item. Whether the item is still there, and whether the priority
// makes sense, is the table's to check.
struct PriorityUpdate {
  ItemKey key;
  double priority = 0;
};

}  // namespace pacml::replay
