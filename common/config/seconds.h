#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdint>

#include "common/clock.h"

namespace pacml {

// A length of time as a configuration says it, in seconds. The reader (reader.h) takes what is from
// 0 to kMost and refuses the rest, .inf and .nan included, so that no setting of this type can
// overflow a clock; 0 or less than the smallest that makes sense is for the setting's own validate.
// Immutable value type.
class Seconds {
 public:
  static constexpr double kMost = 1e8;  // three years

  constexpr Seconds() = default;
  // A number of seconds wherever one is meant: configurations are written as plain numbers.
  constexpr Seconds(double count) : count_(count) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr double count() const { return count_; }
  // For interfaces that count in milliseconds, in their 32 bits.
  [[nodiscard]] constexpr std::chrono::milliseconds milliseconds() const {
    using std::chrono::milliseconds;
    constexpr Duration kLongest = milliseconds{INT32_MAX};
    const Duration bounded = std::min<Duration>(in_seconds(count_), kLongest);
    return std::chrono::duration_cast<milliseconds>(bounded);
  }
  friend constexpr auto operator<=>(Seconds, Seconds) = default;

 private:
  double count_ = 0;
};

[[nodiscard]] constexpr Duration in_seconds(Seconds seconds) { return in_seconds(seconds.count()); }

}  // namespace pacml
