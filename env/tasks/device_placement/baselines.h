#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "env/task.h"

namespace pacml::env {

// Placements of heuristics and searches, as policies: they place each group where they would have
// it, in a single round.
[[nodiscard]] std::vector<Baseline> device_placement_baselines();
// UserError: there is no such baseline.
[[nodiscard]] std::unique_ptr<Agent> make_device_placement_agent(std::string_view name);

// DevicePlacementTask::refined.
[[nodiscard]] std::unique_ptr<Agent> make_refined_agent(std::unique_ptr<Agent> agent,
                                                        std::optional<std::int64_t> simulations);

}  // namespace pacml::env
