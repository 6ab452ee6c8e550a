#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "env/environment.h"
#include "env/ramp/planning_cluster.h"
#include "env/tasks/partitioning/degree_observation.h"
#include "env/tasks/partitioning/task.h"
#include "env/tasks/ramp/pool_ranges.h"
#include "env/tasks/ramp/recent_arrivals.h"

namespace pacml::env {

// How partitioning goes on in a future that somebody imagines (PartitioningEnv::imagine). Copies
// share what they look with, so that one costs little more than the jobs that run. It begins no
// episode. Thread-confined.
class ImaginedPartitioning final : public Environment {
 public:
  // `ranges`, `recent`: of the episode, up to the job that waits.
  ImaginedPartitioning(const std::shared_ptr<const PartitioningTask>& task, PlanningCluster cluster,
                       const PoolRanges& ranges, const RecentArrivals& recent);

  [[nodiscard]] const EnvironmentSpec& spec() const override;
  // Pre: never (PACML_CHECK).
  void reset(Seed seed) override;
  [[nodiscard]] StepResult step(int action) override;
  [[nodiscard]] bool takes(int action) const override;
  void observe(Observations& out) const override;
  [[nodiscard]] std::unique_ptr<Environment> clone() const override;
  [[nodiscard]] bool resample_future(Seed seed) override;
  // Since it was imagined; no metrics.
  [[nodiscard]] EpisodeRecord summary() const override;

  [[nodiscard]] const ClusterSight& cluster() const { return cluster_; }
  // As PartitioningEnv::mask(); borrowed until one of those that were imagined together is asked.
  [[nodiscard]] std::span<const std::uint8_t> mask() const;

 private:
  struct Shared;
  [[nodiscard]] double reward_of(const Job& job, const PlanningCluster::Outcome& outcome) const;

  std::shared_ptr<Shared> shared_;
  PlanningCluster cluster_;
  RecentArrivals recent_;
  bool terminated_ = false;
  double return_ = 0;
  std::int64_t decisions_ = 0;
};

}  // namespace pacml::env
