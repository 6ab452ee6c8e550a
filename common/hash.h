#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "common/rng.h"

namespace pacml {

// 64-bit content hash of bytes, for weights, configurations and graphs: equal bytes, equal hash, on
// every little-endian machine and in every version of this program (tests pin values). It finds
// accidents, not attackers. Each step folds eight bytes with mix64, a bijection, so two inputs of
// one length that differ in one word never collide. Feeding one hash as the next `seed` chains
// parts; the length enters, so parts cannot slide into one another. Pure. About 2 GB/s.
[[nodiscard]] inline std::uint64_t content_hash(std::span<const std::byte> bytes,
                                                std::uint64_t seed = 0) {
  std::uint64_t hash = mix64(seed + kGoldenGamma + bytes.size());
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    hash = mix64((hash ^ word) + kGoldenGamma);
  }
  if (at < bytes.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, bytes.size() - at);
    hash = mix64((hash ^ word) + kGoldenGamma);
  }
  return hash;
}

[[nodiscard]] inline std::uint64_t content_hash(std::string_view text, std::uint64_t seed = 0) {
  return content_hash(std::as_bytes(std::span(text.data(), text.size())), seed);
}

// Of the values' bits: +0.0 and -0.0 differ.
template <class T>
requires std::is_arithmetic_v<T>
[[nodiscard]] std::uint64_t content_hash(std::span<const T> values, std::uint64_t seed = 0) {
  return content_hash(std::as_bytes(values), seed);
}

}  // namespace pacml
