#pragma once

#include <string>
#include <vector>

#include "apps/evaluation/evaluation.h"
#include "apps/run/train_config.h"
#include "env/graph/profile.h"

namespace pacml::apps {

// "a,b" and "c" as {"a", "b", "c"}, but for a comma in the name of a folder that is there;
// "baselines", or nothing at all, stands for every baseline. UserError: an empty name.
[[nodiscard]] std::vector<std::string> split_names(const std::vector<std::string>& lists);

// Policies by name: a heuristic (env/policies/heuristic.h), "best_constant" (the constant degree
// that blocks least on tuning episodes; shown as best_constant:K), or the folder of a run (its best
// policy). UserError: no such policy or run, or a run of another network than the configuration's
// task needs.
[[nodiscard]] std::vector<NamedPolicy> name_policies(const std::vector<std::string>& names,
                                                     const TrainConfig& config,
                                                     const std::vector<env::Profile>& profiles,
                                                     int threads);

}  // namespace pacml::apps
