#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pacml::apps {

// Replays a recorded run: a document of format "ramp-golden-1" (docs/traces.md) in which every
// recorded quantity is recomputed from `config`, `jobs` and `steps[].action` alone, over the
// profiles in `profiles` (empty: the built-in zoo); or one of format "pacml-placement/1"
// (placement_trace.h), or of "cluster-golden-1" (gpu_cluster_trace.h). What is not computed
// (format, name, agent, ...) is carried over. `take_decisions`, of the last format: what was
// decided is replayed instead of its policy. UserError names the document's part that is missing
// or makes no sense.
[[nodiscard]] nlohmann::json replay_trace(const nlohmann::json& recorded,
                                          const std::string& profiles, bool take_decisions = false);

}  // namespace pacml::apps
