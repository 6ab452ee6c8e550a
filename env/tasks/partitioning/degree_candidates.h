#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/ramp/cluster_sight.h"

namespace pacml::env {

// Writes which degrees `observation: cluster` shows: refusing, and every degree at which the job
// would be placed, would meet its limit and would end in time. `allowed` [degrees + 1]: 1 where the
// action is allowed at all; of several degrees with the same outcome the first one counts. Pre: a
// job waits (PACML_CHECK). `placements`: scratch.
void write_degree_candidates(const ClusterSight& cluster, std::span<const std::uint8_t> allowed,
                             std::span<std::uint8_t> mask, std::vector<std::uint32_t>& placements);

}  // namespace pacml::env
