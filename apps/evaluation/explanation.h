#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/evaluation/decision_view.h"
#include "apps/evaluation/future.h"
#include "apps/evaluation/watched_policy.h"
#include "common/ids.h"
#include "env/task.h"
#include "env/timeline.h"

namespace pacml::apps {

struct ExplainedFuture : Future {
  std::string first;  // what is done, for people
  std::string who;    // who decides afterwards
};

struct Explanation {
  std::int64_t decision = 0;  // its number in the episode, from 0
  DecisionView view;
  std::string policy;
  std::string baseline;
  int baseline_action = 0;
  std::string baseline_text;  // what that is: "degree 4"
  // The policy's action and the policy from there on; the baseline's action and the policy, where
  // the two differ; and the baseline from there on: the latter for as long as the first.
  std::vector<ExplainedFuture> futures;
  bool losses_are_known = false;  // whether the task tells losses (env::Pictured)
  // What would run where when, where the environment can say: of the policy's action.
  std::optional<env::Timeline> timeline;
};

// Decision `number` of the episode of `seed`, as `policy` plays it, and what comes of it within the
// next `horizon` decisions, itself included. UserError: the episode has no such decision.
[[nodiscard]] Explanation explain(const env::Task& task, WatchedPolicy& policy,
                                  WatchedPolicy& baseline, Seed seed, std::int64_t number,
                                  std::int64_t horizon = 25);

// For people; ends with a newline. Pure.
[[nodiscard]] std::string to_text(const Explanation& explanation);
// For programs: {"decision", "policy", "view": to_json(DecisionView), "baseline": {"name",
// "action", "text"}, "futures": [{"first", "who", "decisions", "elapsed", "reward", "lost"}, ...],
// "timeline": {"title", "unit", "ends", "lanes": [{"group", "name", "busy"}, ...]}}. Pure.
[[nodiscard]] nlohmann::ordered_json to_json(const Explanation& explanation);

}  // namespace pacml::apps
