#pragma once

#include <vector>

#include "common/rng.h"
#include "env/gpu_cluster/gpu_cluster_model.h"
#include "env/gpu_cluster/gpu_rules.h"

namespace pacml::env {

// A small cluster of any kind, jobs that fill it, and rules.
struct RandomCluster {
  GpuClusterConfig config;
  GpuSpeedTables tables;
  std::vector<GpuJobSpec> jobs;
  GpuRulesConfig rules;
};
[[nodiscard]] RandomCluster draw_cluster(Rng& rng);

}  // namespace pacml::env
