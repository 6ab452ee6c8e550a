#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pacml::replay {

// A set of slots below a capacity, a bit each. Value type.
class SlotSet {
 public:
  explicit SlotSet(std::size_t capacity) : words_((capacity + 63) / 64) {}

  // Pre of these three: slot < capacity.
  [[nodiscard]] bool contains(std::uint32_t slot) const {
    return ((words_[slot / 64] >> (slot % 64)) & 1U) != 0;
  }
  void add(std::uint32_t slot) { words_[slot / 64] |= bit(slot); }
  void erase(std::uint32_t slot) { words_[slot / 64] &= ~bit(slot); }

  // The lowest member that is >= `from`, or kNone when there is no such.
  static constexpr std::uint32_t kNone = UINT32_MAX;
  [[nodiscard]] std::uint32_t next(std::uint32_t from) const {
    std::size_t word = from / 64;
    if (word >= words_.size()) return kNone;
    std::uint64_t bits = words_[word] & (~std::uint64_t{0} << (from % 64));
    while (bits == 0) {
      if (++word == words_.size()) return kNone;
      bits = words_[word];
    }
    return static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
  }

 private:
  static std::uint64_t bit(std::uint32_t slot) { return std::uint64_t{1} << (slot % 64); }

  std::vector<std::uint64_t> words_;
};

}  // namespace pacml::replay
