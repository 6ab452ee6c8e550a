#pragma once

#include <memory>

#include "env/agent.h"
#include "env/gpu_cluster/gpu_rules.h"

namespace pacml::env {

// A rule as a policy: at each instant it decides for all schedulers, whatever is offered. It
// forwards nothing, and no rule may pre-empt. UserError: this one does, its order is kAgent, or the
// first problem of validate(rules).
[[nodiscard]] std::unique_ptr<Agent> make_rule_agent(const GpuRulesConfig& rules);

}  // namespace pacml::env
