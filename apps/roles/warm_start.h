#pragma once

#include "apps/run/warm_start_config.h"
#include "env/tasks/partitioning_config.h"
#include "model/layout.h"
#include "model/parameters.h"

namespace pacml::apps {

// Biases the logits of fresh weights, so that the first policy prefers `degree` as `config` says.
void prefer_degree(int degree, const WarmStartConfig& config, const env::PartitioningConfig& task,
                   const model::ParameterLayout& layout, model::Parameters& parameters);

}  // namespace pacml::apps
