#pragma once

#include <cstdint>
#include <optional>

#include "common/result.h"

namespace pacml::apps {

// How long a run may go on. UserError: a number that nobody means.
inline void check_limits(const std::optional<double>& minutes,
                         const std::optional<std::int64_t>& decisions) {
  constexpr double kMostMinutes = 5'256'000;  // ten years
  if (minutes) {
    const bool is_meant = *minutes > 0 && *minutes <= kMostMinutes;  // NaN is not
    if (!is_meant) throw UserError("--minutes: must be > 0 and at most 5256000 (ten years)");
  }
  if (decisions && *decisions < 1) throw UserError("--decisions: must be at least 1");
}

}  // namespace pacml::apps
