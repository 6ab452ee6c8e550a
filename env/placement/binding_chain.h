#pragma once

#include <cstdint>
#include <vector>

#include "env/placement/placement_simulator.h"

namespace pacml::env {

// The groups that the last execution's length comes from: from the operation that ended last back,
// always to what was waited for longest, be it data, their way, or what the device or the link did
// before; of a transfer, the group that sends it. The last ones first, each once. To move another
// one seldom makes the whole shorter. Pure; O(operations + edges + outputs * devices).
[[nodiscard]] std::vector<std::int32_t> binding_groups(const PlacementSimulator& run);

}  // namespace pacml::env
