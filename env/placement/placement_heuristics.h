#pragma once

#include <cstdint>
#include <vector>

#include "env/placement/placement_problem.h"

// Placements that need no simulation. All give one device for each group; pure.

namespace pacml::env {

using GroupPlacement = std::vector<std::int32_t>;

// Everything on one device: the fastest, of equals the first; where that does not hold everything
// and another one does, the fastest of those.
[[nodiscard]] std::int32_t best_single_device(const PlacementProblem& problem);
[[nodiscard]] GroupPlacement place_on_one(const PlacementProblem& problem, std::int32_t device);

// Groups whose longest path from a source is equally long, in turns, by index.
[[nodiscard]] GroupPlacement place_by_level(const PlacementProblem& problem);

// The topological order of groups in pieces of about equal work, one a device: what people do by
// hand with layers.
[[nodiscard]] GroupPlacement place_contiguously(const PlacementProblem& problem);

// Each group on any device.
[[nodiscard]] std::vector<GroupPlacement> random_placements(const PlacementProblem& problem,
                                                            int count, std::uint64_t seed);

}  // namespace pacml::env
