#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/task.h"
#include "env/tasks/cluster_scheduling/config.h"
#include "env/tasks/cluster_scheduling/observation.h"

namespace pacml::env {

using GpuJobSpecs = std::shared_ptr<const std::vector<GpuJobSpec>>;

// Which job runs where on a GPU cluster, decided by its schedulers. Immutable; any thread.
class ClusterSchedulingTask final : public Task,
                                    public std::enable_shared_from_this<ClusterSchedulingTask> {
 public:
  // UserError with the first problem of validate(config), or of the cluster and its jobs together.
  explicit ClusterSchedulingTask(const ClusterSchedulingConfig& config);

  [[nodiscard]] const ClusterSchedulingConfig& config() const { return config_; }
  [[nodiscard]] const GpuClusterModelPtr& model() const { return model_; }
  [[nodiscard]] const SchedulingScale& scale() const { return scale_; }
  [[nodiscard]] const PartitionNodes& nodes(int partition) const {
    return nodes_[static_cast<std::size_t>(partition)];
  }
  // Of the spec's graphs.
  [[nodiscard]] std::uint16_t graph_of(int partition) const {
    return graph_of_[static_cast<std::size_t>(partition)];
  }
  // The jobs of an episode, in the order of their arrival: always as many. A pure function of the
  // seed.
  [[nodiscard]] std::vector<GpuJobSpec> draw_jobs(Seed seed) const;

  [[nodiscard]] const EnvironmentSpec& spec() const override { return spec_; }
  [[nodiscard]] EnvironmentFactory make_factory() const override;
  [[nodiscard]] std::vector<Baseline> baselines() const override;
  [[nodiscard]] std::unique_ptr<Agent> make_agent(std::string_view name) const override;

 private:
  ClusterSchedulingConfig config_;
  GpuClusterModelPtr model_;
  std::optional<TraceJobs> trace_;
  SchedulingScale scale_;
  std::vector<PartitionNodes> nodes_;    // [partitions]
  std::vector<std::uint16_t> graph_of_;  // [partitions]
  EnvironmentSpec spec_;
};

}  // namespace pacml::env
