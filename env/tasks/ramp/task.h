#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "env/graph/profile.h"
#include "env/ramp/execution_memo.h"
#include "env/task.h"
#include "env/tasks/ramp/cluster_view.h"
#include "env/tasks/ramp/config.h"
#include "env/tasks/ramp/pool_ranges.h"

namespace pacml::env {

// A task's configuration, if validate() finds nothing wrong with it. UserError: the first thing
// that is.
template <class Config>
[[nodiscard]] const Config& checked(const Config& config) {
  if (const auto problems = validate(config); !problems.empty()) throw UserError(problems.front());
  return config;
}

// What all tasks on the RAMP cluster have in common: job graphs, the workload, the metrics. Each
// adds what its decisions are about. Immutable; any thread.
class RampTask : public Task, public std::enable_shared_from_this<RampTask> {
 public:
  [[nodiscard]] const EnvironmentSpec& spec() const override { return spec_; }
  [[nodiscard]] const RampTaskConfig& ramp_config() const { return config_; }
  [[nodiscard]] const ExecutionMemo::Setting& setting() const { return setting_; }
  [[nodiscard]] std::span<const JobGraphPtr> graphs() const { return graphs_; }
  [[nodiscard]] const std::shared_ptr<const WorkloadPlan>& plan() const { return plan_; }
  // Mean time between arrivals at load 1, in simulated time: the unit of what is observed of the
  // cluster.
  [[nodiscard]] double slot() const { return slot_; }
  [[nodiscard]] PoolRanges ranges(std::span<const ModelFractions> fractions) const;
  // For one thread.
  [[nodiscard]] std::shared_ptr<ExecutionMemo> make_memo() const;
  // For an environment whose decisions show the servers.
  [[nodiscard]] ShownCluster make_shown_cluster() const;

 protected:
  // UserError with the first problem of a nested configuration, or of the profiles, which are the
  // models in the order of their graph indices.
  RampTask(std::string name, const RampTaskConfig& config, const std::vector<Profile>& profiles);

  // Adds the servers' graph to the spec's, and makes the view of decisions that show it.
  void show_cluster(DecisionReader decision_of);
  // For the derived task to complete while it is made.
  EnvironmentSpec spec_;

 private:
  RampTaskConfig config_;
  ExecutionMemo::Setting setting_;
  std::vector<JobGraphPtr> graphs_;
  std::shared_ptr<const WorkloadPlan> plan_;
  double slot_ = 0;
};

}  // namespace pacml::env
