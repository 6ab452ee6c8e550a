#pragma once

#include "apps/run/train_config.h"
#include "env/tasks/partitioning/config.h"

namespace pacml::testing {

// The settings of a configuration that is about partitioning.
inline env::PartitioningConfig& partitioning_of(apps::TrainConfig& config) {
  return config.env.as<env::PartitioningConfig>();
}
inline const env::PartitioningConfig& partitioning_of(const apps::TrainConfig& config) {
  return config.env.as<env::PartitioningConfig>();
}

}  // namespace pacml::testing
