#pragma once

#include <nlohmann/json_fwd.hpp>

namespace pacml::apps {

// Replays recorded placements: a document of format "pacml-placement/1" (docs/placement.md) in
// which every recorded quantity is computed anew from the graph, the constants, and what was
// decided: `runs[].placement` and `episodes[].{order, initial, actions}`. What is not computed is
// carried over. UserError names the part that is missing or makes no sense.
[[nodiscard]] nlohmann::json replay_placements(const nlohmann::json& recorded);

}  // namespace pacml::apps
