#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "env/tasks/placement_shaping/block_catalog.h"
#include "env/tasks/placement_shaping/config.h"
#include "env/tasks/ramp/task.h"

namespace pacml::env {

// Which block of servers each arriving job gets (the public suite's job placement shaping), or how
// far it is partitioned as well. Immutable; any thread.
class PlacementShapingTask final : public RampTask {
 public:
  // With the profiles that the configuration names. UserError with the first problem of
  // validate(config), or of the profiles.
  explicit PlacementShapingTask(const PlacementShapingConfig& config);
  // `profiles`: the models in the order of their graph indices.
  PlacementShapingTask(const PlacementShapingConfig& config, const std::vector<Profile>& profiles);

  [[nodiscard]] const PlacementShapingConfig& config() const { return config_; }
  [[nodiscard]] const std::shared_ptr<const BlockCatalog>& catalog() const { return catalog_; }
  // Those that a job may be cut at.
  [[nodiscard]] const std::vector<int>& degrees() const { return degrees_; }
  [[nodiscard]] EnvironmentFactory make_factory() const override;
  [[nodiscard]] std::vector<Baseline> baselines() const override;
  [[nodiscard]] std::unique_ptr<Agent> make_agent(std::string_view name) const override;

 private:
  PlacementShapingConfig config_;
  std::vector<int> degrees_;
  std::shared_ptr<const BlockCatalog> catalog_;
};

}  // namespace pacml::env
