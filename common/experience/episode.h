#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/result.h"

namespace pacml {

// How many metrics a task may report of an episode.
inline constexpr std::size_t kMostMetrics = 16;

// What an episode came to, for people and for the metrics: on the wire as it lies in memory.
struct EpisodeRecord {
  double episode_return = 0;
  std::int64_t decisions = 0;
  // The task's, in the order of its names (env/environment.h); NaN where one is undefined in this
  // episode, as a mean over nothing is. Those behind the last name are 0.
  std::array<double, kMostMetrics> metrics{};
  bool operator==(const EpisodeRecord&) const = default;
};
static_assert(sizeof(EpisodeRecord) == 16 + 8 * kMostMetrics);

// kCorruptFrame: a negative count, a return that is not finite, an infinite metric. Pure.
[[nodiscard]] Result<void> validate(std::span<const EpisodeRecord> episodes);

}  // namespace pacml
