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

// So many decisions in a row of weights of this version.
struct VersionRun {
  PolicyVersion version{};
  std::uint64_t decisions = 0;  // >= 1
  bool operator==(const VersionRun&) const = default;
};
static_assert(sizeof(VersionRun) == 16);  // without gaps: it crosses the wire as it is

// What one actor message carries: S sequences, one laid out after the other, of D decisions
// together. A sequence is what one stream, an agent of an environment (env/environment.h), decided
// in a row; where that ended an episode, the next decision is the first of the stream's next one. A
// stream's consecutive sequences, of one message or of several, share one row of observations: what
// follows the last decision of one is what the first of the next answers. None may have come to
// anything yet: S = 0. Value type; owning.
struct Sequences {
  std::vector<std::uint32_t> lengths;     // [S], decisions of each sequence, >= 1
  std::vector<std::uint32_t> first_step;  // [S], how many decisions the stream had taken in the
                                          // episode of the sequence's first one, before it

  // Of each sequence in turn, what its decisions answered, then what followed the last one, for
  // bootstrapping; that makes D + S rows. Then one more for every decision that was truncated and
  // not terminated, in their order: the last state of its episode.
  Observations observations;
  std::vector<std::int16_t> action;       // [D], a candidate that is valid under the mask
  std::vector<float> behaviour_log_prob;  // [D], finite, <= 0 but for rounding
  std::vector<float> reward;              // [D], finite
  std::vector<float> elapsed;             // [D], finite, > 0; or empty: 1 each
  std::vector<std::uint8_t> flags;        // [D], kTerminated | kTruncated
  // What a search found the valid candidates of each decision to be worth, in the unit of rewards,
  // finite: of the decisions in turn, and of each in the order of its mask; or empty: none
  // searched.
  std::vector<float> action_values;
  // Of the decisions in turn, whatever their sequence; never falling inside one.
  std::vector<VersionRun> versions;
  std::vector<EpisodeRecord> episodes;  // that ended meanwhile

  static constexpr std::uint8_t kTerminated = 1;  // bootstrap with 0, also when both are set
  static constexpr std::uint8_t kTruncated = 2;   // bootstrap with the value of the last state

  // S.
  [[nodiscard]] std::size_t size() const { return lengths.size(); }
  // D.
  [[nodiscard]] std::size_t num_decisions() const { return action.size(); }
  // Rows of `observations` before the last states.
  [[nodiscard]] std::size_t num_rows() const { return num_decisions() + size(); }

  // Adds decisions to the last run, or begins one. For writers.
  void append_version(PolicyVersion version, std::uint64_t decisions = 1);

  bool operator==(const Sequences&) const = default;
};

// The largest message that is believed.
struct SequenceLimits {
  std::uint32_t max_length = 4096;  // of one sequence
  std::uint32_t max_decisions = 1U << 20;
  std::uint32_t max_episodes = 1U << 20;  // each of one decision, perhaps
  ObservationLimits observations;
};

// How long the columns of a message are, but for its observations.
struct SequenceCounts {
  std::size_t sequences = 0;
  std::size_t decisions = 0;
  std::size_t version_runs = 0;
  std::size_t episodes = 0;
  bool elapsed = false;  // whether there is such a column
  std::size_t action_values = 0;
};

// Resizes every column but the observations; new elements are zero.
void resize_columns(Sequences& sequences, const SequenceCounts& counts);

// Whether everything above holds: sizes of columns and of what they say of each other, finite
// numbers, actions valid under their masks, last states where they belong. kOverLimit or
// kCorruptFrame with a sentence. Pure.
[[nodiscard]] Result<void> validate(const Sequences& sequences, const SequenceLimits& limits = {});

}  // namespace pacml
