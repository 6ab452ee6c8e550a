#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "env/task.h"
#include "env/tasks/gpu_scheduling/config.h"

namespace pacml::env {

// Orders of jobs as policies, each job placed as the task places it.
[[nodiscard]] std::vector<Baseline> job_scheduling_baselines();
// UserError: there is no such baseline. Pre: `rules` has a rule for places.
[[nodiscard]] std::unique_ptr<Agent> make_job_scheduling_agent(std::string_view name,
                                                               const SchedulingRules& rules);

}  // namespace pacml::env
