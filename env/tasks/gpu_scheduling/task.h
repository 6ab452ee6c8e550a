#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/gpu_cluster/job_lists.h"
#include "env/task.h"
#include "env/tasks/gpu_scheduling/config.h"
#include "env/tasks/gpu_scheduling/observation.h"

namespace pacml::env {

// The tables that the settings name, or those that are made up. UserError: they cannot be read.
[[nodiscard]] GpuSpeedTables tables_of(const GpuWorkloadConfig& workload);

using GpuJobSpecs = std::shared_ptr<const std::vector<GpuJobSpec>>;

// A decision problem about which job runs where on a GPU cluster, but for its baselines. Immutable;
// any thread.
class GpuSchedulingTask : public Task, public std::enable_shared_from_this<GpuSchedulingTask> {
 public:
  [[nodiscard]] const SchedulingRules& rules() const { return rules_; }
  [[nodiscard]] const GpuClusterModelPtr& model() const { return model_; }
  [[nodiscard]] int num_schedulers() const { return model_->config().partitions; }
  [[nodiscard]] const SchedulingScale& scale() const { return scale_; }
  [[nodiscard]] const PartitionNodes& nodes(int partition) const {
    return nodes_[static_cast<std::size_t>(partition)];
  }
  // Of the spec's graphs.
  [[nodiscard]] std::uint16_t graph_of(int partition) const {
    return graph_of_[static_cast<std::size_t>(partition)];
  }
  // The jobs of an episode, out of the trace or generated, in the order of their arrival: always as
  // many. A pure function of the seed.
  [[nodiscard]] std::vector<GpuJobSpec> draw_jobs(Seed seed) const;
  // The same for another future of draw_jobs(episode), of whose jobs `arrived` have come: none of
  // those behind is still to come there. Empty: the trace has no such.
  [[nodiscard]] std::vector<GpuJobSpec> draw_future(Seed seed, Seed episode,
                                                    std::size_t arrived) const;
  // Of which episodes are, instead; null: there are none.
  [[nodiscard]] const JobLists* job_lists() const { return lists_ ? &*lists_ : nullptr; }

  [[nodiscard]] const EnvironmentSpec& spec() const override { return spec_; }
  [[nodiscard]] EnvironmentFactory make_factory() const override;

 protected:
  struct Speeds {
    std::function<GpuSpeedTables()> read;
    bool are_own;  // the user has said how fast which type is, and a trace names those types
  };
  // UserError with the first of `problems`, or of the cluster and its jobs together. `speeds` are
  // read where there are no problems; of what they say, settings.interference decides what pairs do
  // to each other.
  GpuSchedulingTask(std::string name, const GpuWorkloadConfig& workload,
                    const SchedulingRules& rules, const std::vector<std::string>& problems,
                    const Speeds& speeds);
  // With tables_of(workload).
  GpuSchedulingTask(std::string name, const GpuWorkloadConfig& workload,
                    const SchedulingRules& rules, const std::vector<std::string>& problems);

  EnvironmentSpec spec_;

 private:
  GeneratedJobsConfig jobs_;
  SchedulingRules rules_;
  GpuClusterModelPtr model_;
  std::optional<TraceJobs> trace_;
  std::optional<JobLists> lists_;
  SchedulingScale scale_;
  std::vector<PartitionNodes> nodes_;    // [partitions]
  std::vector<std::uint16_t> graph_of_;  // [partitions]
};

}  // namespace pacml::env
