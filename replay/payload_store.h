#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pacml::replay {

// One payload a slot, in memory of its own that the slot's next payload takes over: where payloads
// are equally long, nothing is allocated once every slot has had one. Thread-confined.
class PayloadStore {
 public:
  explicit PayloadStore(std::size_t capacity) : payloads_(capacity) {}

  // Memory that a payload takes: its length, up to a multiple of 8.
  [[nodiscard]] static std::size_t footprint(std::size_t length) { return (length + 7) / 8 * 8; }

  // Stores a copy. Pre: the slot holds nothing, or was dropped.
  void put(std::uint32_t slot, std::span<const std::byte> payload);
  // Borrowed until the slot is put or released; a drop leaves the bytes.
  [[nodiscard]] std::span<const std::byte> get(std::uint32_t slot) const {
    return {payloads_[slot].bytes.get(), payloads_[slot].length};
  }
  // The payload no longer counts; its memory stays, spare. Pre: put before, not dropped since.
  void drop(std::uint32_t slot);
  // Gives spare memory back. Pre: dropped before.
  void release(std::uint32_t slot);
  void prefetch(std::uint32_t slot) const { __builtin_prefetch(&payloads_[slot]); }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }        // of payloads
  [[nodiscard]] std::size_t spare_bytes() const { return spare_; }  // of dropped ones
  // Of this one. Pre: the slot holds nothing, or was dropped.
  [[nodiscard]] std::size_t spare_of(std::uint32_t slot) const {
    return footprint(payloads_[slot].length);
  }

 private:
  struct Payload {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t length = 0;  // kept when dropped; `bytes` has footprint(length)
  };

  std::vector<Payload> payloads_;
  std::size_t bytes_ = 0;
  std::size_t spare_ = 0;
};

}  // namespace pacml::replay
