#pragma once

#include <cmath>
#include <limits>
#include <span>

namespace pacml {

// Whether every value is a number of at most `largest`, either way. Pure.
[[nodiscard]] inline bool all_within(std::span<const float> values, float largest) {
  bool all = true;
  for (const float value : values) all &= std::abs(value) <= largest;  // false for no number
  return all;
}

[[nodiscard]] inline bool all_finite(std::span<const float> values) {
  return all_within(values, std::numeric_limits<float>::max());
}

}  // namespace pacml
