#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/gpu_cluster/gpu_cluster_state.h"

namespace pacml::env {

// What a schedule came to. Times are seconds; JCT: from a job's arrival to its end.
struct GpuClusterMetrics {
  std::int64_t finished = 0;
  std::int64_t unfinished = 0;
  // Of finished jobs; NaN: there are none.
  double avg_jct = 0;
  double p50_jct = 0;  // nearest rank
  double p90_jct = 0;
  double p99_jct = 0;
  double avg_queue = 0;      // from the arrival to the first start
  double makespan = 0;       // from the first arrival to the last end
  double utilisation = 0;    // GPU-seconds with a job, as a share of all
  double mean_slowdown = 0;  // JCT over the time alone on the best GPUs
  double jain_users = 0;     // Jain's index of the users' mean of 1 / slow-down
  // Of all jobs.
  double active_time = 0;  // integral of the number of jobs in the system
  std::int64_t preemptions = 0;
  std::int64_t placements = 0;
  std::vector<double> progress;  // [partitions], jobs' worth of work
};

// Of a schedule that has ended, or of one as far as it is. `alone_s` [jobs], seconds: what
// slow-downs are against, where jobs have not been given the sizes that they asked for; empty:
// their sizes as they are. Pure.
[[nodiscard]] GpuClusterMetrics gpu_cluster_metrics(const GpuClusterState& state,
                                                    std::span<const double> alone_s = {});

}  // namespace pacml::env
