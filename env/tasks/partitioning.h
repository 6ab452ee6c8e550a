#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/cluster/cluster.h"
#include "env/environment.h"
#include "env/graph/profile.h"
#include "env/tasks/partitioning_config.h"
#include "env/tasks/pool_ranges.h"

namespace pacml::env {

// What all partitioning environments of one thread share: the graphs, the workload, the spaces and
// the memo of everything derived from them. Thread-confined because of the memo.
class PartitioningWorld {
 public:
  // UserError with the first problem of validate(config), or of the profiles. `profiles`: the
  // models in the order of their graph indices.
  PartitioningWorld(const PartitioningConfig& config, const std::vector<Profile>& profiles);

  [[nodiscard]] const PartitioningConfig& config() const { return config_; }
  [[nodiscard]] const EnvironmentSpec& spec() const { return spec_; }
  [[nodiscard]] const std::shared_ptr<ExecutionMemo>& memo() const { return memo_; }
  [[nodiscard]] const std::shared_ptr<const WorkloadPlan>& plan() const { return plan_; }
  // Mean time between arrivals, in simulated time: the unit of `observation: cluster`.
  [[nodiscard]] double slot() const { return slot_; }
  [[nodiscard]] PoolRanges ranges(std::span<const ModelFractions> fractions) const;

 private:
  PartitioningConfig config_;
  std::shared_ptr<ExecutionMemo> memo_;
  std::shared_ptr<const WorkloadPlan> plan_;
  EnvironmentSpec spec_;
  double slot_ = 0;
};

// How far to partition each arriving job (PAC-ML, arXiv:2301.13799). Action 0 refuses the job,
// action k lets every op be cut into at most k pieces. One decision per job. Thread-confined.
class PartitioningEnv final : public Environment {
 public:
  explicit PartitioningEnv(std::shared_ptr<const PartitioningWorld> world);

  [[nodiscard]] const EnvironmentSpec& spec() const override { return world_->spec(); }
  void reset(Seed seed) override;
  [[nodiscard]] StepResult step(int action) override;
  void observe(Observations& out) const override;
  [[nodiscard]] std::unique_ptr<Environment> clone() const override;
  [[nodiscard]] EpisodeSummary summary() const override;

  // An episode over an explicit list of jobs, e.g. a recorded one.
  void reset(JobStream jobs);
  // Keep a full log of every episode that starts from now on (cluster().log()).
  void keep_log(bool keep) { keep_log_ = keep; }

  [[nodiscard]] const PartitioningWorld& world() const { return *world_; }
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  // The waiting job's valid actions as 0/1 [num_actions]. With `observation: paper` the same as the
  // observation's mask; `cluster` shows those of them that come to something.
  [[nodiscard]] std::span<const std::uint8_t> mask() const { return mask_; }
  [[nodiscard]] std::span<const float> globals() const { return globals_; }
  // What became of the last action, the job that it was about, and the statistics of its first
  // cluster step. Valid after step().
  [[nodiscard]] const Decision& last_decision() const { return last_decision_; }
  [[nodiscard]] const Job& last_job() const { return last_job_; }
  [[nodiscard]] const ClusterStepStats& last_stats() const { return stats_; }
  [[nodiscard]] const PoolRanges& ranges() const { return ranges_; }

 private:
  void refresh_observation();
  // Leaves the observation as it is where no job comes any more.
  void observe_beyond_limit();
  void write_mask();
  void write_globals();

  std::shared_ptr<const PartitioningWorld> world_;
  Cluster cluster_;
  bool keep_log_ = false;
  PoolRanges ranges_;
  // The observation of the waiting job, or of the one that would have come next had the episode not
  // been truncated; after a step that terminated it still that of the last one.
  std::uint16_t graph_ = 0;
  std::vector<float> globals_;
  std::vector<std::uint8_t> mask_;
  std::vector<std::uint8_t> shown_mask_;
  Decision last_decision_;
  Job last_job_;
  ClusterStepStats stats_;
  ClusterStepStats waiting_stats_;  // scratch
  double return_ = 0;
  std::int64_t decisions_ = 0;
};

}  // namespace pacml::env
