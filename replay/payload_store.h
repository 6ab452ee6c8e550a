#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pacml::replay {

// One payload a slot, of any length. Lengths are rounded up to few enough sizes that memory which
// one payload leaves is the next one's: where payloads are equally long, nothing is allocated once
// the store is full, and where they are not, hardly anything. No more memory is kept spare than
// payloads take, but for 16 MiB. Thread-confined.
class PayloadStore {
 public:
  // `max_bytes`: of payloads and spare memory together; spare memory goes first.
  explicit PayloadStore(std::size_t capacity, std::size_t max_bytes = SIZE_MAX);

  // Memory that a payload takes: its length, up to a multiple of 8 and of a sixteenth of the power
  // of two below it. A function of the length alone.
  [[nodiscard]] static std::size_t footprint(std::size_t length);

  // Stores a copy. Pre: the slot holds nothing, or was dropped; there is room for the payload.
  void put(std::uint32_t slot, std::span<const std::byte> payload);
  // Borrowed until the next put, even where the payload is dropped before.
  [[nodiscard]] std::span<const std::byte> get(std::uint32_t slot) const {
    return {payloads_[slot].memory.get(), payloads_[slot].length};
  }
  // The payload no longer counts; its memory is spare. Pre: put before, not dropped since.
  void drop(std::uint32_t slot);
  void prefetch(std::uint32_t slot) const { __builtin_prefetch(&payloads_[slot]); }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }        // of payloads
  [[nodiscard]] std::size_t spare_bytes() const { return spare_; }  // that dropped ones left

 private:
  using Memory = std::unique_ptr<std::byte[]>;
  struct Payload {
    Memory memory;  // footprint(length)
    std::size_t length = 0;
  };

  // Gives spare memory back, all but `most` bytes of it.
  void keep_spare(std::size_t most);

  std::size_t max_bytes_;
  std::vector<Payload> payloads_;
  std::vector<std::vector<Memory>> spares_;  // by size, in the order of sizes
  std::size_t next_release_ = 0;             // the size that gives memory back next
  std::size_t bytes_ = 0;
  std::size_t spare_ = 0;
};

}  // namespace pacml::replay
