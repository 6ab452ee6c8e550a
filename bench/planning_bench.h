#pragma once

#include <string>

#include "bench/figures.h"
#include "env/task_config.h"
#include "model/network_config.h"

namespace pacml::bench {

// Searches of every decision of episodes, on one core, each in 64 futures
// (planning/search_agent.h): over a rule, 40 decisions deep, and over a network with random
// weights, 12 deep, which finds all actions about as likely. Medians over repetitions, after a
// warm-up of a second.
//   model_decisions_per_second   in such futures without a search, each after one of several first
//                                actions; from then on the same one, where it is possible
//   rule_decisions_per_second, network_decisions_per_second   where there was something to choose
//   rule_imagined_per_second, network_imagined_per_second     in futures, at most: of whole ones
// Pre: the network reads what the task shows (PACML_CHECK). UserError: there is no such rule; a
// future cannot be drawn.
[[nodiscard]] Figures run_planning_bench(const env::TaskConfig& task,
                                         const model::NetworkConfig& network,
                                         const std::string& rule, int action, int repetitions);

}  // namespace pacml::bench
