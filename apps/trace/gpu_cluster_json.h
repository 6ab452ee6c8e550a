#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/gpu_cluster/gpu_cluster_metrics.h"
#include "env/gpu_cluster/gpu_cluster_model.h"
#include "env/gpu_cluster/gpu_decision.h"
#include "env/gpu_cluster/gpu_job_list.h"
#include "env/gpu_cluster/gpu_lockstep.h"
#include "env/gpu_cluster/gpu_rules.h"

// Recorded schedules of format "cluster-golden-1" (docs/gpu_cluster.md). UserError, one sentence
// that names the member, for what is not as it should be. Pure.

namespace pacml::apps {

// `config` of a recording.
struct RecordedGpuCluster {
  env::GpuClusterModelPtr model;
  env::GpuRulesConfig rules;
  std::optional<env::LockstepConfig> lockstep;
  bool log_rewards = false;
};
[[nodiscard]] RecordedGpuCluster recorded_gpu_cluster(const nlohmann::json& config);

// Of decisions, what was decided: rates and numbers of actions are left out.
[[nodiscard]] std::vector<env::GpuDecision> recorded_gpu_decisions(const nlohmann::json& decisions);

[[nodiscard]] nlohmann::json to_json(std::span<const env::GpuDecision> decisions);
// Figures that are none are null.
[[nodiscard]] nlohmann::json to_json(const env::GpuClusterMetrics& metrics);

}  // namespace pacml::apps
