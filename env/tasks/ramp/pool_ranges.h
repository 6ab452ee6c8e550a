#pragma once

#include <span>

#include "env/graph/job_graph.h"
#include "env/workload/job_pool.h"

namespace pacml::env {

// Smallest and largest value of a statistic over the jobs of an episode's pool; what observations
// are normalised by. Some published maxima are not the pool's: see make_pool_ranges.
struct Range {
  double min = 0;
  double max = 0;
  // (value - min) / (max - min); 1 for an empty range.
  [[nodiscard]] double normalise(double value) const {
    return max - min != 0 ? (value - min) / (max - min) : 1.0;
  }
};

struct PoolRanges {
  Range sequential_time, max_acceptable_time, fraction;
  Range total_memory, total_dependency_bytes;
  Range num_ops, num_dependencies;
  Range training_steps;
  Range op_throughput;  // largest of a job's ops: bytes per unit of simulated time
  Range max_dependency_bytes;
};

struct PoolRangesOptions {
  double time_scale = 1;
  int num_training_steps = 50;
  int max_partitions_in_observation = 1;        // published maxima scale with it
  bool normalise_dependencies_by_pool = false;  // else by a complete graph's total
};

// Ranges over the jobs that `fractions` counts, per graph. As published, the maxima of the number
// of ops and dependencies and of the total dependency size are enlarged (three times the
// dependencies, a complete graph's total).
[[nodiscard]] PoolRanges make_pool_ranges(std::span<const JobGraphPtr> graphs,
                                          std::span<const ModelFractions> fractions,
                                          const PoolRangesOptions& options);

}  // namespace pacml::env
