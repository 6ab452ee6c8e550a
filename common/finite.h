#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace pacml {

// Whether every value is a number of at most `largest`, either way. Pure.
[[nodiscard]] inline bool all_within(std::span<const float> values, float largest) {
  bool all = true;
  for (const float value : values) all &= std::abs(value) <= largest;  // false for no number
  return all;
}

[[nodiscard]] inline bool all_finite(std::span<const float> values) {
  // All bits of the exponent: infinite, or no number. As integers, which are compared many at once.
  constexpr std::uint32_t kExponent = 0x7F800000;
  std::uint32_t odd = 0;
  for (const float value : values) {
    odd |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
  }
  return odd == 0;
}

}  // namespace pacml
