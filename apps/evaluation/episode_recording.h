#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "apps/evaluation/watched_policy.h"
#include "common/ids.h"
#include "env/task.h"

namespace pacml::apps {

// An episode, decision after decision, for somebody who steps through it:
//   {"policy": name, "task": name, "decisions": [...], "left_out": n, "return", "metrics": {...}}
// with what to_json(DecisionView) says of each decision, its "reward" and "outcome", which is what
// became of it (PictureOutcome; absent where the environment has no picture), as JSON. Decisions
// behind the 2000th, or behind 16 MiB of them, are played and left out. `seed` as of run_episode:
// the same for every policy. nullopt when `stop` was requested meanwhile. UserError as the
// environments and the policy throw it.
[[nodiscard]] std::optional<std::string> record_episode(const env::Task& task,
                                                        WatchedPolicy& policy, Seed seed,
                                                        const std::stop_token& stop = {});

}  // namespace pacml::apps
