#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/placement/placement_heuristics.h"
#include "env/placement/placement_problem.h"
#include "env/refinable_task.h"
#include "env/task.h"
#include "env/tasks/device_placement/config.h"
#include "env/tasks/device_placement/hidden_features.h"

namespace pacml::env {

// What the task asks for: a graph on devices, and what is known of it.
struct PlacementTaskProblem {
  PlacementProblemPtr problem;
  std::string name;      // "branch 7 on placeto:4"
  double single_s = 0;   // everything on the best single device
  GroupPlacement start;  // where it begins; empty: drawn in each episode
};

// On which devices the operations of a graph run. Immutable; any thread.
class DevicePlacementTask final : public Task,
                                  public RefinableTask,
                                  public std::enable_shared_from_this<DevicePlacementTask> {
 public:
  // UserError with the first problem of validate(config), or of a graph or a file.
  explicit DevicePlacementTask(const DevicePlacementConfig& config);

  [[nodiscard]] const DevicePlacementConfig& config() const { return config_; }
  [[nodiscard]] const HiddenFeatures& hidden() const { return hidden_; }
  // In the order of the spec's graphs: each graph on all devices, then the next one.
  [[nodiscard]] const std::vector<PlacementTaskProblem>& problems() const { return problems_; }
  [[nodiscard]] const EnvironmentSpec& spec() const override { return spec_; }
  [[nodiscard]] EnvironmentFactory make_factory() const override;
  [[nodiscard]] std::vector<Baseline> baselines() const override;
  [[nodiscard]] std::unique_ptr<Agent> make_agent(std::string_view name) const override;
  // By env::improve; without a number, with groups x devices simulations.
  [[nodiscard]] std::unique_ptr<Agent> refined(
      std::unique_ptr<Agent> agent, std::optional<std::int64_t> simulations) const override;

 private:
  // That what the task is depends on a file.
  void add(const OpGraphPtr& graph, const std::string& name,
           const std::vector<DeviceSetPtr>& devices);

  DevicePlacementConfig config_;
  std::vector<std::string> device_names_;  // of each set of devices
  HiddenFeatures hidden_;
  std::vector<PlacementTaskProblem> problems_;
  EnvironmentSpec spec_;
};

}  // namespace pacml::env
