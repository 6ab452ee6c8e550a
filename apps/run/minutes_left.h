#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <ratio>

#include "common/clock.h"

namespace pacml::apps {

// Of a limit that has counted since `started`: what is left to another life, or to what follows. A
// moment at least, which a command line takes as it takes any limit. nullopt: there is none. Pure.
[[nodiscard]] inline std::optional<double> minutes_left(std::optional<double> limit,
                                                        TimePoint started, TimePoint now) {
  constexpr double kMoment = 0.001;
  if (!limit) return std::nullopt;
  const std::chrono::duration<double, std::ratio<60>> gone = now - started;
  return std::max(kMoment, *limit - gone.count());
}

}  // namespace pacml::apps
