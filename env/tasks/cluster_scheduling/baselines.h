#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "env/gpu_cluster/gpu_rules.h"
#include "env/task.h"

namespace pacml::env {

// Rules as policies: at each instant one decides for all schedulers, whatever is offered. They
// forward nothing.
[[nodiscard]] std::vector<Baseline> cluster_scheduling_baselines();
// UserError: there is no such baseline, or its argument is none.
[[nodiscard]] std::unique_ptr<Agent> make_cluster_scheduling_agent(std::string_view name);
// Any other rule that places jobs and nothing else. UserError: it pre-empts, its order is kAgent,
// or the first problem of validate(rules).
[[nodiscard]] std::unique_ptr<Agent> make_rule_agent(const GpuRulesConfig& rules);

}  // namespace pacml::env
