#pragma once

#include <vector>

#include "apps/run/warm_start_config.h"
#include "common/ids.h"
#include "env/graph/profile.h"
#include "env/tasks/partitioning_config.h"
#include "model/layout.h"
#include "model/parameters.h"

namespace pacml::apps {

// Biases the logits of fresh weights as `config` says; the preferred degree, 0 for none.
int warm_start(const WarmStartConfig& config, const env::PartitioningConfig& task,
               const std::vector<env::Profile>& profiles, Seed run,
               const model::ParameterLayout& layout, model::Parameters& parameters);

}  // namespace pacml::apps
