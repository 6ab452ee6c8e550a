#pragma once

#include <cmath>

#include "env/numerics.h"
#include "env/semantics.h"

// When things happen on the RAMP cluster, to the last bit: the same for all that play it.
namespace pacml::env {

// Jobs complete, and arrivals happen, up to this much early: the published clock's tolerance.
inline constexpr double kClockTolerance = 1e-7;
// With tolerant_limit: relative rounding that a job may exceed its limit by.
inline constexpr double kLimitTolerance = 1e-9;

// Until a job is done that began at `started` and takes so long.
[[nodiscard]] inline double remaining_time(double completion_time, double started, double now) {
  return completion_time - (now - started);
}
[[nodiscard]] inline bool is_done(double remaining) { return remaining - kClockTolerance <= 0; }
[[nodiscard]] inline bool is_due(double arrival, double now) {
  return now + kClockTolerance >= arrival;
}

// The time when nothing has happened for so long. Where the clock is coarser than the tolerance
// (beyond 2^30), what is left may be too short to move it, and the event would never come.
[[nodiscard]] inline double time_after(double now, double length) {
  const double later = now + length;
  return later == now && length > kClockTolerance ? std::nextafter(now, kEndOfTime) : later;
}

[[nodiscard]] inline bool meets_limit(double completion_time, double max_acceptable_time,
                                      const SemanticSwitches& semantics) {
  const double slack = semantics.tolerant_limit ? max_acceptable_time * kLimitTolerance : 0.0;
  return completion_time <= max_acceptable_time + slack;
}

// Whether a job that begins now would still run when the time is up, and count as blocked.
[[nodiscard]] inline bool is_cut_off(double completion_time, double now, double max_simulation_time,
                                     const SemanticSwitches& semantics) {
  return !semantics.running_at_end_is_not_blocked &&
         now + completion_time - kClockTolerance > max_simulation_time;
}

}  // namespace pacml::env
