#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/experience/episode.h"
#include "common/experience/observations.h"
#include "common/ids.h"
#include "common/result.h"

namespace pacml {

// What one actor message carries: T steps of B environments in lockstep, columns apart, each
// row-major in the order its comment gives. Observation (t, b) is what action (t, b) answers; row T
// is what follows the last action, for bootstrapping. When a step ends an episode, the next row is
// the first observation of the next one. Value type; owning.
struct Unrolls {
  std::uint32_t steps = 0;         // T >= 1
  std::uint32_t environments = 0;  // B >= 1

  // [T+1, B], then the last state of each step of `cut`, in its order.
  Observations observations;
  std::vector<std::int16_t> action;           // [T, B], a candidate that is valid under the mask
  std::vector<float> behaviour_log_prob;      // [T, B], finite, <= 0 but for rounding
  std::vector<float> reward;                  // [T, B], finite
  std::vector<std::uint8_t> flags;            // [T, B], kTerminated | kTruncated
  std::vector<PolicyVersion> policy_version;  // [T], never falling
  // t * B + b of exactly the steps that were truncated and not terminated, in order.
  std::vector<std::uint32_t> cut;
  std::vector<EpisodeRecord> episodes;  // that ended inside

  static constexpr std::uint8_t kTerminated = 1;  // bootstrap with 0, also when both are set
  static constexpr std::uint8_t kTruncated = 2;   // bootstrap with the value of the last state

  // Index of (t, b) in a [T, B] or [T+1, B] column.
  [[nodiscard]] std::size_t at(std::size_t t, std::size_t b) const { return t * environments + b; }
  [[nodiscard]] std::size_t num_decisions() const {
    return static_cast<std::size_t>(steps) * environments;
  }
  // Rows of `observations` before those of `cut`.
  [[nodiscard]] std::size_t num_rows() const { return num_decisions() + environments; }
  [[nodiscard]] bool ends_episode(std::size_t t, std::size_t b) const {
    return flags[at(t, b)] != 0;
  }
  bool operator==(const Unrolls&) const = default;
};

// The largest message that is believed.
struct UnrollLimits {
  std::uint32_t max_steps = 4096;
  std::uint32_t max_environments = 4096;
  std::uint32_t max_decisions = 1U << 20;  // steps * environments
  std::uint32_t max_episodes = 1U << 16;
  ObservationLimits observations;
};

// Resizes every column but the observations of a [T, B] message with so many steps that were cut;
// new elements are zero. Pre: steps and environments are set.
void resize_columns(Unrolls& unrolls, std::size_t cut, std::size_t episodes);

// Whether everything above holds: sizes of columns, indices, finite numbers, actions valid under
// their masks, last states where they belong. kOverLimit or kCorruptFrame with a sentence. Pure.
[[nodiscard]] Result<void> validate(const Unrolls& unrolls, const UnrollLimits& limits = {});

}  // namespace pacml
