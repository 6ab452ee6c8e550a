#include "replay/payload_store.h"

#include <algorithm>

namespace pacml::replay {

void PayloadStore::put(std::uint32_t slot, std::span<const std::byte> payload) {
  Payload& held = payloads_[slot];
  const std::size_t needed = footprint(payload.size());
  const std::size_t spare = spare_of(slot);
  if (needed != spare) {
    held.bytes = needed > 0 ? std::make_unique_for_overwrite<std::byte[]>(needed) : nullptr;
  }
  std::copy(payload.begin(), payload.end(), held.bytes.get());
  held.length = payload.size();
  spare_ -= spare;
  bytes_ += needed;
}

void PayloadStore::drop(std::uint32_t slot) {
  const std::size_t memory = footprint(payloads_[slot].length);
  bytes_ -= memory;
  spare_ += memory;
}

void PayloadStore::release(std::uint32_t slot) {
  spare_ -= spare_of(slot);
  payloads_[slot] = {};
}

}  // namespace pacml::replay
