#include "common/experience/unrolls.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace pacml {
namespace {

tl::unexpected<Error> corrupt(std::string what) {
  return fail(Errc::kCorruptFrame, "unrolls: " + std::move(what));
}

Result<void> check_limits(const Unrolls& u, const UnrollLimits& limits) {
  if (u.steps == 0 || u.environments == 0 || u.num_actions == 0) {
    return corrupt("steps, environments and actions must be at least 1");
  }
  const bool within = u.steps <= limits.max_steps && u.environments <= limits.max_environments &&
                      std::uint64_t{u.steps} * u.environments <= limits.max_decisions &&
                      u.num_globals <= limits.max_globals && u.num_actions <= limits.max_actions &&
                      u.graphs.size() <= limits.max_graphs &&
                      u.episodes.size() <= limits.max_episodes;
  if (!within) return fail(Errc::kOverLimit, "unrolls: larger than the limits allow");
  return {};
}

Result<void> check_sizes(const Unrolls& u) {
  const std::size_t decisions = u.num_decisions();
  const std::size_t rows = decisions + u.environments;
  const std::size_t last = u.last_states.step.size();
  const auto& l = u.last_states;
  const bool fits = u.graph.size() == rows && u.globals.size() == rows * u.num_globals &&
                    u.mask.size() == rows * u.num_actions && u.action.size() == decisions &&
                    u.behaviour_log_prob.size() == decisions && u.reward.size() == decisions &&
                    u.flags.size() == decisions && u.policy_version.size() == u.steps &&
                    l.graph.size() == last && l.globals.size() == last * u.num_globals &&
                    l.mask.size() == last * u.num_actions;
  if (!fits) return corrupt("a column's length does not match the shape");
  return {};
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

Result<void> check_observations(const Unrolls& u, std::span<const std::uint16_t> graph,
                                std::span<const float> globals,
                                std::span<const std::uint8_t> mask) {
  for (const std::uint16_t index : graph) {
    if (index >= u.graphs.size()) return corrupt("a graph index is out of range");
  }
  if (!all_finite(globals)) return corrupt("a feature is not finite");
  for (std::size_t row = 0; row < graph.size(); ++row) {
    std::uint8_t seen = 0;
    for (const std::uint8_t valid : mask.subspan(row * u.num_actions, u.num_actions)) {
      if (valid > 1) return corrupt("a mask holds something other than 0 and 1");
      seen |= valid;
    }
    if (seen == 0) return corrupt("a mask allows no action");
  }
  return {};
}

Result<void> check_decisions(const Unrolls& u) {
  // exp(1e-3) is far above what rounding can make of a probability of 1.
  constexpr float kLargestLogProb = 1e-3F;
  constexpr std::uint8_t kKnownFlags = Unrolls::kTerminated | Unrolls::kTruncated;
  for (std::size_t i = 0; i < u.num_decisions(); ++i) {
    const std::int16_t action = u.action[i];
    if (action < 0 || static_cast<std::uint32_t>(action) >= u.num_actions) {
      return corrupt("an action is out of range");
    }
    if (u.mask[i * u.num_actions + static_cast<std::size_t>(action)] == 0) {
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
    if (next == u.last_states.step.size() || u.last_states.step[next] != i) {
      return corrupt("a truncated step lacks its last state");
    }
    ++next;
  }
  if (next != u.last_states.step.size()) {
    return corrupt("a last state belongs to no truncated step");
  }
  return {};
}

}  // namespace

Result<void> validate(std::span<const EpisodeRecord> episodes) {
  for (const EpisodeRecord& e : episodes) {
    if (!std::isfinite(e.episode_return) || e.decisions < 0 || e.arrived < 0 || e.completed < 0 ||
        e.blocked < 0) {
      return corrupt("an episode's record holds a negative count or no finite return");
    }
  }
  return {};
}

void resize_columns(Unrolls& u, std::size_t graphs, std::size_t last, std::size_t episodes) {
  const std::size_t decisions = u.num_decisions();
  const std::size_t rows = decisions + u.environments;
  u.graphs.resize(graphs);
  u.graph.resize(rows);
  u.globals.resize(rows * u.num_globals);
  u.mask.resize(rows * u.num_actions);
  u.action.resize(decisions);
  u.behaviour_log_prob.resize(decisions);
  u.reward.resize(decisions);
  u.flags.resize(decisions);
  u.policy_version.resize(u.steps);
  u.last_states.step.resize(last);
  u.last_states.graph.resize(last);
  u.last_states.globals.resize(last * u.num_globals);
  u.last_states.mask.resize(last * u.num_actions);
  u.episodes.resize(episodes);
}

Result<void> validate(const Unrolls& u, const UnrollLimits& limits) {
  if (auto ok = check_limits(u, limits); !ok) return ok;
  if (auto ok = check_sizes(u); !ok) return ok;
  if (auto ok = check_observations(u, u.graph, u.globals, u.mask); !ok) return ok;
  const auto& last = u.last_states;
  if (auto ok = check_observations(u, last.graph, last.globals, last.mask); !ok) return ok;
  if (auto ok = check_decisions(u); !ok) return ok;
  if (auto ok = check_last_states(u); !ok) return ok;
  return validate(u.episodes);
}

}  // namespace pacml
