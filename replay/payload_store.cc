#include "replay/payload_store.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pacml::replay {
namespace {

constexpr std::size_t kGrain = 8;   // bytes
constexpr std::size_t kSteps = 16;  // sizes from one power of two to the next
constexpr std::size_t kLeastSpare = std::size_t{1} << 24;  // bytes, kept however little is held

// How far apart sizes are about `length`.
std::size_t grain_of(std::size_t length) {
  return std::max(kGrain, std::bit_floor(length) / kSteps);
}

// Numbers the sizes, from 0 on without gaps. Pre: a footprint.
std::size_t number_of(std::size_t size) {
  if (size < kGrain * kSteps) return size / kGrain;
  const std::size_t power = std::bit_floor(size);
  const auto doublings = static_cast<std::size_t>(std::countr_zero(power / (kGrain * kSteps)));
  return kSteps * (1 + doublings) + (size - power) / grain_of(size);
}

// The size of that number.
std::size_t size_of(std::size_t number) {
  if (number < kSteps) return number * kGrain;
  const std::size_t doublings = number / kSteps - 1;
  return (kGrain << doublings) * (kSteps + number % kSteps);
}

}  // namespace

PayloadStore::PayloadStore(std::size_t capacity, std::size_t max_bytes)
    : max_bytes_(max_bytes), payloads_(capacity) {}

std::size_t PayloadStore::footprint(std::size_t length) {
  const std::size_t grain = grain_of(length);
  return (length + grain - 1) / grain * grain;
}

void PayloadStore::put(std::uint32_t slot, std::span<const std::byte> payload) {
  Payload& held = payloads_[slot];
  const std::size_t size = footprint(payload.size());
  const std::size_t number = number_of(size);
  if (number < spares_.size() && !spares_[number].empty()) {
    held.memory = std::move(spares_[number].back());
    spares_[number].pop_back();
    spare_ -= size;
  } else if (size > 0) {
    const std::size_t needed = bytes_ + size;
    keep_spare(max_bytes_ - std::min(max_bytes_, needed));
    held.memory = std::make_unique_for_overwrite<std::byte[]>(size);
  }
  std::copy(payload.begin(), payload.end(), held.memory.get());
  held.length = payload.size();
  bytes_ += size;
  keep_spare(std::max(bytes_, kLeastSpare));
}

void PayloadStore::drop(std::uint32_t slot) {
  Payload& held = payloads_[slot];
  const std::size_t size = footprint(held.length);
  held.length = 0;
  if (size == 0) return;
  const std::size_t number = number_of(size);
  if (spares_.size() <= number) spares_.resize(number + 1);
  spares_[number].push_back(std::move(held.memory));
  bytes_ -= size;
  spare_ += size;
}

void PayloadStore::keep_spare(std::size_t most) {
  while (spare_ > most) {
    next_release_ = next_release_ + 1 < spares_.size() ? next_release_ + 1 : 0;
    auto& spares = spares_[next_release_];
    while (!spares.empty() && spare_ > most) {
      spares.pop_back();
      spare_ -= size_of(next_release_);
    }
  }
}

}  // namespace pacml::replay
