#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/run/train_config.h"
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

// How many actors to start. UserError: fewer than `fewest`, or too many.
inline void check_actors(const std::optional<std::int64_t>& actors, std::int64_t fewest) {
  if (!actors || (*actors >= fewest && *actors <= kMostActors)) return;
  throw UserError("--actors: must be in " + std::to_string(fewest) + ".." +
                  std::to_string(kMostActors));
}

}  // namespace pacml::apps
