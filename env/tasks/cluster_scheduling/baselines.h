#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "env/task.h"

namespace pacml::env {

// Rules as policies: at each instant one decides for all schedulers, whatever is offered. They
// forward nothing.
[[nodiscard]] std::vector<Baseline> cluster_scheduling_baselines();
// UserError: there is no such baseline, or its argument is none.
[[nodiscard]] std::unique_ptr<Agent> make_cluster_scheduling_agent(std::string_view name);

}  // namespace pacml::env
