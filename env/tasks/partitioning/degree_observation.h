#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "env/tasks/partitioning/task.h"
#include "env/tasks/ramp/cluster_view.h"
#include "env/tasks/ramp/recent_arrivals.h"

namespace pacml::env {

// What a decision about a degree shows, whoever plays the cluster. Value type.
class DegreeObservation {
 public:
  // The task is borrowed.
  explicit DegreeObservation(const PartitioningTask& task);

  // Pre: a job waits (PACML_CHECK).
  void look_at(const ClusterSight& cluster, const PoolRanges& ranges, const RecentArrivals& recent);
  // Adds what was looked at last as a row. Pre: a store of the task's (PACML_CHECK).
  void write(Observations& out) const;

  // The degrees that may be chosen, 0/1 [num_actions]. With `observation: paper` the same as the
  // row's mask; `cluster` shows those of them that come to something.
  [[nodiscard]] std::span<const std::uint8_t> mask() const { return mask_; }
  [[nodiscard]] std::span<const float> globals() const { return globals_; }

 private:
  const PartitioningTask* task_;
  std::optional<double> slot_;  // that servers are shown in; nullopt: they are not
  std::uint16_t graph_ = 0;
  std::vector<float> globals_;  // of the paper's observation
  ShownCluster shown_;          // of the cluster's
  std::vector<std::uint8_t> mask_;
  std::vector<std::uint8_t> shown_mask_;
  std::vector<std::uint32_t> placements_;  // scratch
};

}  // namespace pacml::env
