#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "env/task.h"
#include "env/tasks/partitioning/task.h"

namespace pacml::env {

// The policies that need no training: those of the paper, constant degrees, the best one of these,
// and "min_feasible".
[[nodiscard]] std::vector<Baseline> partitioning_baselines(const PartitioningTask& task);

// A degree rule by its name (env/tasks/ramp/degree_rule.h). UserError: as make_degree_rule; a
// constant degree for which none of the task's clusters has a block, so that it would refuse every
// job.
[[nodiscard]] std::unique_ptr<Agent> make_partitioning_agent(const PartitioningTask& task,
                                                             std::string_view name);

}  // namespace pacml::env
