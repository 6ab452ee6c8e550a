#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "env/tasks/partitioning/config.h"
#include "env/tasks/ramp/task.h"

namespace pacml::env {

// How far to partition each arriving job (PAC-ML, arXiv:2301.13799). Immutable; any thread.
class PartitioningTask final : public RampTask {
 public:
  // With the profiles that the configuration names. UserError with the first problem of
  // validate(config), or of the profiles.
  explicit PartitioningTask(const PartitioningConfig& config);
  // `profiles`: the models in the order of their graph indices.
  PartitioningTask(const PartitioningConfig& config, const std::vector<Profile>& profiles);

  [[nodiscard]] const PartitioningConfig& config() const { return config_; }
  [[nodiscard]] EnvironmentFactory make_factory() const override;
  [[nodiscard]] std::vector<Baseline> baselines() const override;
  [[nodiscard]] std::unique_ptr<Agent> make_agent(std::string_view name) const override;

 private:
  PartitioningConfig config_;
};

}  // namespace pacml::env
