#pragma once

#include <span>
#include <vector>

#include "common/experience/observation_spec.h"
#include "env/ramp/cluster_sight.h"
#include "env/tasks/ramp/pool_ranges.h"

namespace pacml::env {

// `observation: paper` of the partitioning task: the published 17 graph features, of which two are
// about the cluster: how many servers are in use, and how many jobs run.
[[nodiscard]] std::vector<FeatureSpec> paper_globals();

// Writes them. `out` [17]. Pre: a job waits in `cluster` (PACML_CHECK).
void write_paper_globals(const ClusterSight& cluster, const PoolRanges& ranges,
                         std::span<float> out);

}  // namespace pacml::env
