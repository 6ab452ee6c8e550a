#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "env/task.h"
#include "env/tasks/placement_shaping/task.h"

namespace pacml::env {

// "first_fit", "last_fit", "best_fit", "fastest", "random", each with a degree after a colon where
// the task is joint, and there the best degree of each, "tuned_first_fit" and so on.
[[nodiscard]] std::vector<Baseline> placement_shaping_baselines(const PlacementShapingTask& task);

// UserError: another name, with the nearest one; a degree that is missing, that no block has, or
// where none belongs.
[[nodiscard]] std::unique_ptr<Agent> make_placement_shaping_agent(std::string_view name,
                                                                  const PlacementShapingTask& task);

}  // namespace pacml::env
