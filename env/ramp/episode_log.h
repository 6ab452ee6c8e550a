#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace pacml::env {

// Quantities that a cluster processes, as bytes: what running jobs hold, weighted by the share of
// their completion time that has passed. "demand": of the original job, before it was partitioned.
enum class Info { kCompute, kDep, kFlow, kCluster, kDemandCompute, kDemandDep, kDemandTotal };
inline constexpr std::size_t kNumInfos = 7;
using InfoVector = std::array<double, kNumInfos>;

// Figures of one cluster step (simulator semantics in docs/simulator.md). Times are simulated.
struct ClusterStepFigures {
  double start_time = 0, end_time = 0;
  int jobs_completed = 0, jobs_arrived = 0, jobs_blocked = 0;
  int queue_length = 0;
  double mean_jobs_running = 0;
  double mean_mounted_workers = 0, mean_mounted_channels = 0;
  InfoVector info{};                                                  // processed in this step
  InfoVector throughput{};                                            // per unit of simulated time
  double mean_compute_overhead = 0, mean_communication_overhead = 0;  // fractions
};

// ... with its lists.
struct ClusterStepStats : ClusterStepFigures {
  std::vector<double> mounted_utilisation, cluster_utilisation;  // one entry per tick
  std::vector<int> completed, blocked;                           // job indices, in order

  // An empty step that starts at `now`; keeps the capacity of the lists.
  void restart(double now);
};

// One job that was completed.
struct CompletedJob {
  int index = 0;
  double completion_time = 0;  // since its arrival
  double speedup = 0;          // sequential completion time / completion time
  double communication_overhead = 0, computation_overhead = 0;
  int num_ops = 0, num_dependencies = 0;  // partitioned
  double total_memory = 0, total_dependency_bytes = 0;
  int degree = 0;
  double sequential_time = 0, fraction = 0, max_acceptable_time = 0;
  int num_workers = 0, num_channels = 0;
  double utilisation = 0;
  int original_ops = 0, original_dependencies = 0;
  double original_memory = 0, original_dependency_bytes = 0;
};

// One job that was blocked; figures of the original job.
struct BlockedJob {
  int index = 0;
  int num_ops = 0, num_dependencies = 0;
  double total_memory = 0, total_dependency_bytes = 0;
  double sequential_time = 0, fraction = 0, max_acceptable_time = 0;
};

// Everything that happened in an episode, in order. Value type.
struct EpisodeLog {
  std::vector<CompletedJob> completed;
  std::vector<BlockedJob> blocked;
  std::vector<double>
      load_rates;  // of each arrival: bytes per unit of simulated time until the next
  std::vector<ClusterStepStats> steps;
};

}  // namespace pacml::env
