#include "common/experience/unrolls.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "common/finite.h"

namespace pacml {
namespace {

tl::unexpected<Error> corrupt(std::string what) {
  return fail(Errc::kCorruptFrame, "unrolls: " + std::move(what));
}

Result<void> check_limits(const Unrolls& u, const UnrollLimits& limits) {
  if (u.steps == 0 || u.environments == 0) {
    return corrupt("steps and environments must be at least 1");
  }
  const bool within = u.steps <= limits.max_steps && u.environments <= limits.max_environments &&
                      std::uint64_t{u.steps} * u.environments <= limits.max_decisions &&
                      u.episodes.size() <= limits.max_episodes;
  if (!within) return fail(Errc::kOverLimit, "unrolls: larger than the limits allow");
  return {};
}

Result<void> check_sizes(const Unrolls& u) {
  const std::size_t decisions = u.num_decisions();
  const bool fits = u.observations.size() == u.num_rows() + u.cut.size() &&
                    u.action.size() == decisions && u.behaviour_log_prob.size() == decisions &&
                    u.reward.size() == decisions && u.flags.size() == decisions &&
                    u.policy_version.size() == u.steps;
  if (!fits) return corrupt("a column's length does not match the shape");
  return {};
}

Result<void> check_decisions(const Unrolls& u) {
  // exp(1e-3) is far above what rounding can make of a probability of 1.
  constexpr float kLargestLogProb = 1e-3F;
  constexpr std::uint8_t kKnownFlags = Unrolls::kTerminated | Unrolls::kTruncated;
  for (std::size_t i = 0; i < u.num_decisions(); ++i) {
    const std::int16_t action = u.action[i];
    const auto mask = u.observations.mask(i);
    if (action < 0 || static_cast<std::size_t>(action) >= mask.size()) {
      return corrupt("an action is out of range");
    }
    if (mask[static_cast<std::size_t>(action)] == 0) {
      return corrupt("an action was not allowed by its mask");
    }
    if (!std::isfinite(u.behaviour_log_prob[i]) || u.behaviour_log_prob[i] > kLargestLogProb) {
      return corrupt("a log-probability is not one");
    }
    if ((u.flags[i] & ~kKnownFlags) != 0) return corrupt("an unknown flag is set");
  }
  if (!all_finite(u.reward)) return corrupt("a reward is not finite");
  if (!std::is_sorted(u.policy_version.begin(), u.policy_version.end())) {
    return corrupt("the policy version falls");
  }
  return {};
}

// Exactly the steps that were truncated and not terminated, in order.
Result<void> check_last_states(const Unrolls& u) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < u.num_decisions(); ++i) {
    if (u.flags[i] != Unrolls::kTruncated) continue;
    if (next == u.cut.size() || u.cut[next] != i) {
      return corrupt("a truncated step lacks its last state");
    }
    ++next;
  }
  if (next != u.cut.size()) {
    return corrupt("a last state belongs to no truncated step");
  }
  return {};
}

}  // namespace

void resize_columns(Unrolls& u, std::size_t cut, std::size_t episodes) {
  const std::size_t decisions = u.num_decisions();
  u.action.resize(decisions);
  u.behaviour_log_prob.resize(decisions);
  u.reward.resize(decisions);
  u.flags.resize(decisions);
  u.policy_version.resize(u.steps);
  u.cut.resize(cut);
  u.episodes.resize(episodes);
}

Result<void> validate(const Unrolls& u, const UnrollLimits& limits) {
  if (auto ok = check_limits(u, limits); !ok) return ok;
  if (auto ok = check_sizes(u); !ok) return ok;
  if (auto ok = validate(u.observations, limits.observations); !ok) return ok;
  if (auto ok = check_decisions(u); !ok) return ok;
  if (auto ok = check_last_states(u); !ok) return ok;
  return validate(u.episodes);
}

}  // namespace pacml
