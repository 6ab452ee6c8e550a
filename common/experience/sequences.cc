#include "common/experience/sequences.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "common/finite.h"

namespace pacml {
namespace {

tl::unexpected<Error> corrupt_sequences(std::string what) {
  return fail(Errc::kCorruptFrame, "sequences: " + std::move(what));
}

// Every length is at least 1, so that this bounds their number, too.
Result<void> check_limits(const Sequences& s, const SequenceLimits& limits) {
  const bool within =
      s.num_decisions() <= limits.max_decisions && s.episodes.size() <= limits.max_episodes &&
      std::ranges::all_of(s.lengths,
                          [&](std::uint32_t length) { return length <= limits.max_length; });
  if (!within) return fail(Errc::kOverLimit, "sequences: larger than the limits allow");
  return {};
}

Result<void> check_sizes(const Sequences& s) {
  const std::size_t decisions = s.num_decisions();
  const bool fits = s.first_step.size() == s.size() && s.behaviour_log_prob.size() == decisions &&
                    s.reward.size() == decisions && s.flags.size() == decisions &&
                    (s.elapsed.empty() || s.elapsed.size() == decisions);
  if (!fits) return corrupt_sequences("a column's length does not match the others");
  // What is left of the decisions, rather than a sum that might overflow.
  std::size_t left = decisions;
  for (const std::uint32_t length : s.lengths) {
    if (length == 0) return corrupt_sequences("a sequence of no decisions");
    if (length > left) return corrupt_sequences("longer together than there are decisions");
    left -= length;
  }
  if (left != 0) return corrupt_sequences("a decision belongs to no sequence");
  std::size_t cut = 0;
  for (const std::uint8_t flags : s.flags) cut += flags == Sequences::kTruncated ? 1 : 0;
  if (s.observations.size() < s.num_rows() + cut) {
    return corrupt_sequences(
        "an observation is missing: of a decision, behind one, or a last state");
  }
  if (s.observations.size() > s.num_rows() + cut) {
    return corrupt_sequences("an observation belongs to nothing");
  }
  return {};
}

// Each action against what it answers, and whose turn that was.
Result<void> check_actions(const Sequences& s) {
  const Observations& observations = s.observations;
  const bool several = observations.shape().agents > 1;
  std::size_t i = 0;
  std::size_t row = 0;
  std::size_t candidates = 0;
  for (const std::uint32_t length : s.lengths) {
    const std::uint16_t agent = observations.agent(row);
    for (const std::size_t end = i + length; i < end; ++i, ++row) {
      const std::int16_t action = s.action[i];
      const auto mask = observations.mask(row);
      if (action < 0 || static_cast<std::size_t>(action) >= mask.size()) {
        return corrupt_sequences("an action is out of range");
      }
      if (mask[static_cast<std::size_t>(action)] == 0) {
        return corrupt_sequences("an action was not allowed by its mask");
      }
      if (several && observations.agent(row + 1) != agent) {
        return corrupt_sequences("a sequence of several agents");
      }
      if (!s.action_values.empty()) candidates += observations.num_valid(row);
    }
    ++row;
  }
  if (s.action_values.size() != candidates) {
    return corrupt_sequences("searched, but not one value for each valid candidate");
  }
  return {};
}

Result<void> check_numbers(const Sequences& s) {
  // exp(1e-3) is far above what rounding can make of a probability of 1.
  constexpr float kLargestLogProb = 1e-3F;
  constexpr std::uint8_t kKnownFlags = Sequences::kTerminated | Sequences::kTruncated;
  for (const float log_prob : s.behaviour_log_prob) {
    if (!std::isfinite(log_prob) || log_prob > kLargestLogProb) {
      return corrupt_sequences("a log-probability is not one");
    }
  }
  for (const std::uint8_t flags : s.flags) {
    if ((flags & ~kKnownFlags) != 0) return corrupt_sequences("an unknown flag is set");
  }
  if (!all_finite(s.reward)) return corrupt_sequences("a reward is not finite");
  if (!all_finite(s.action_values)) return corrupt_sequences("an action's value is not finite");
  if (!std::ranges::all_of(s.elapsed, [](float e) { return std::isfinite(e) && e > 0; })) {
    return corrupt_sequences("a decision took no time, or not a finite one");
  }
  return {};
}

Result<void> check_versions(const Sequences& s) {
  std::size_t left = s.num_decisions();
  for (const VersionRun& run : s.versions) {
    if (run.decisions == 0) return corrupt_sequences("a version of no decisions");
    if (run.decisions > left) return corrupt_sequences("versions of more decisions than there are");
    left -= static_cast<std::size_t>(run.decisions);
  }
  if (left != 0) return corrupt_sequences("a decision has no version");
  // Where a run begins inside a sequence, it must not fall.
  auto length = s.lengths.begin();
  std::size_t sequence_end = 0;
  std::size_t begin = 0;
  for (std::size_t r = 0; r < s.versions.size(); ++r) {
    while (sequence_end < begin) sequence_end += *length++;
    const bool inside = begin != sequence_end;
    if (inside && s.versions[r].version < s.versions[r - 1].version) {
      return corrupt_sequences("the policy version falls");
    }
    begin += static_cast<std::size_t>(s.versions[r].decisions);
  }
  return {};
}

}  // namespace

void Sequences::append_version(PolicyVersion version, std::uint64_t decisions) {
  if (!versions.empty() && versions.back().version == version) {
    versions.back().decisions += decisions;
  } else {
    versions.push_back({version, decisions});
  }
}

void resize_columns(Sequences& s, const SequenceCounts& counts) {
  s.lengths.resize(counts.sequences);
  s.first_step.resize(counts.sequences);
  s.action.resize(counts.decisions);
  s.behaviour_log_prob.resize(counts.decisions);
  s.reward.resize(counts.decisions);
  s.elapsed.resize(counts.elapsed ? counts.decisions : 0);
  s.flags.resize(counts.decisions);
  s.action_values.resize(counts.action_values);
  s.versions.resize(counts.version_runs);
  s.episodes.resize(counts.episodes);
}

Result<void> validate(const Sequences& s, const SequenceLimits& limits) {
  if (auto ok = check_limits(s, limits); !ok) return ok;
  if (auto ok = check_sizes(s); !ok) return ok;
  if (auto ok = validate(s.observations, limits.observations); !ok) return ok;
  if (auto ok = check_actions(s); !ok) return ok;
  if (auto ok = check_numbers(s); !ok) return ok;
  if (auto ok = check_versions(s); !ok) return ok;
  return validate(s.episodes);
}

}  // namespace pacml
