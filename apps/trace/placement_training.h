#pragma once

#include <nlohmann/json_fwd.hpp>

namespace pacml::apps {

// Replays recorded training of the published policy: a document of format
// "pacml-placement-training/1" (docs/placement.md) in which every recorded quantity is computed
// anew from the graph, the settings, the first weights, and each update's start and actions.
// REINFORCE (Williams 1992) as published: one episode an update, a baseline for each step of it,
// the mean over a window in which the episode itself counts; gradients summed over steps, clipped
// by their norm; Adam with its epsilon outside of the correction. UserError names the part that is
// missing or makes no sense.
[[nodiscard]] nlohmann::json replay_placement_training(const nlohmann::json& recorded);

}  // namespace pacml::apps
