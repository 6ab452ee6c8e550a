#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/graph/profile.h"
#include "env/ramp/execution_memo.h"
#include "env/task.h"
#include "env/tasks/ramp/cluster_view.h"
#include "env/tasks/ramp/config.h"
#include "env/tasks/ramp/memos.h"
#include "env/tasks/ramp/pool_ranges.h"

namespace pacml::env {

// One of the clusters that a task's episodes are on.
struct RampCluster {
  ExecutionMemo::Setting setting;
  std::shared_ptr<const WorkloadPlan> plan;  // with as many arrivals a server as on the first one
  double slot = 0;          // mean time between arrivals at load 1, in simulated time
  std::uint16_t graph = 0;  // of its servers, among the spec's; where decisions show them
};

// What all tasks on the RAMP cluster have in common: job graphs, the workload, the metrics. Each
// adds what its decisions are about. Immutable; any thread.
class RampTask : public Task, public std::enable_shared_from_this<RampTask> {
 public:
  [[nodiscard]] const EnvironmentSpec& spec() const override { return spec_; }
  [[nodiscard]] const RampTaskConfig& ramp_config() const { return config_; }
  [[nodiscard]] std::span<const JobGraphPtr> graphs() const { return graphs_; }
  // The clusters that episodes are on, the first of them that of ramp.topology.
  [[nodiscard]] std::span<const RampCluster> clusters() const { return clusters_; }
  // The number of the one that an episode is on: a pure function of `episode`.
  [[nodiscard]] std::size_t cluster_of(Seed episode) const;
  // That of this topology. Pre: there is one (PACML_CHECK).
  [[nodiscard]] const RampCluster& cluster_of(const Topology& topology) const;
  // Of the first one.
  [[nodiscard]] const ExecutionMemo::Setting& setting() const { return clusters_.front().setting; }
  [[nodiscard]] const std::shared_ptr<const WorkloadPlan>& plan() const {
    return clusters_.front().plan;
  }
  [[nodiscard]] double slot() const { return clusters_.front().slot; }
  // As of ClusterViewSetting.
  [[nodiscard]] double slot_shown(ServersShown shown) const;
  [[nodiscard]] PoolRanges ranges(std::span<const ModelFractions> fractions) const;
  // For one thread: of all clusters, and of the first one alone.
  [[nodiscard]] std::shared_ptr<RampMemos> make_memos() const;
  [[nodiscard]] std::shared_ptr<ExecutionMemo> make_memo() const { return make_memos()->of(0); }

 protected:
  // UserError with the first problem of a nested configuration, or of the profiles, which are the
  // models in the order of their graph indices.
  RampTask(std::string name, const RampTaskConfig& config, const std::vector<Profile>& profiles);

  // Adds the servers' graphs to the spec's, and makes the view of decisions that show them.
  void show_cluster(ServersShown shown, DecisionReader decision_of);
  // For the derived task to complete while it is made.
  EnvironmentSpec spec_;

 private:
  void add_cluster(const std::array<int, 3>& topology, const RecordedModels& models);

  RampTaskConfig config_;
  std::vector<JobGraphPtr> graphs_;
  std::vector<RampCluster> clusters_;
};

}  // namespace pacml::env
