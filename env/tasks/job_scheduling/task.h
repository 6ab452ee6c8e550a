#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "env/tasks/gpu_scheduling/task.h"
#include "env/tasks/job_scheduling/config.h"

namespace pacml::env {

// Which job of a GPU cluster is next. Immutable; any thread.
class JobSchedulingTask final : public GpuSchedulingTask {
 public:
  // UserError with the first problem of validate(config), or of the cluster and its jobs together.
  explicit JobSchedulingTask(const JobSchedulingConfig& config);

  [[nodiscard]] std::vector<Baseline> baselines() const override;
  [[nodiscard]] std::unique_ptr<Agent> make_agent(std::string_view name) const override;
};

}  // namespace pacml::env
