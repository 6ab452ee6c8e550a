#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "env/tasks/cluster_scheduling/config.h"
#include "env/tasks/gpu_scheduling/task.h"

namespace pacml::env {

// Which job runs where on a GPU cluster, decided by its schedulers. Immutable; any thread.
class ClusterSchedulingTask final : public GpuSchedulingTask {
 public:
  // UserError with the first problem of validate(config), or of the cluster and its jobs together.
  explicit ClusterSchedulingTask(const ClusterSchedulingConfig& config);

  [[nodiscard]] std::vector<Baseline> baselines() const override;
  [[nodiscard]] std::unique_ptr<Agent> make_agent(std::string_view name) const override;
};

}  // namespace pacml::env
