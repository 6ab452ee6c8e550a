#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/experience/observation_spec.h"
#include "env/gpu_cluster/gpu_cluster_state.h"
#include "env/graph_features.h"
#include "env/tasks/gpu_scheduling/offers.h"

// What decisions of the cluster scheduling task show. Times are in units of what a job takes alone
// on average, sizes in shares of a partition, so that clusters of any size and jobs of any length
// look alike.

namespace pacml::env {

[[nodiscard]] std::vector<FeatureSpec> scheduling_globals();
[[nodiscard]] std::vector<FeatureSpec> offer_features();
inline constexpr std::uint32_t kClusterNodeWidth = 5;     // static features of a node
inline constexpr std::uint32_t kClusterDynamicWidth = 6;  // ... and those that change
inline constexpr std::uint32_t kClusterEdgeWidth = 1;

// The nodes of a partition's graph: the partition itself, the other partitions in order, its racks,
// its servers. Immutable; any thread.
class PartitionNodes {
 public:
  PartitionNodes(const GpuClusterModel& model, int partition);

  [[nodiscard]] int partition() const { return partition_; }
  [[nodiscard]] std::uint32_t size() const { return of_server(last_server_) + 1; }
  [[nodiscard]] std::uint32_t num_racks() const {
    return static_cast<std::uint32_t>(last_rack_ - first_rack_ + 1);
  }
  [[nodiscard]] std::uint32_t of_partition(int p) const {
    if (p == partition_) return 0;
    return static_cast<std::uint32_t>(p < partition_ ? p + 1 : p);
  }
  [[nodiscard]] std::uint32_t of_rack(std::int32_t rack) const {
    return partitions_ + static_cast<std::uint32_t>(rack - first_rack_);
  }
  [[nodiscard]] std::uint32_t of_server(std::int32_t server) const {
    return partitions_ + num_racks() + static_cast<std::uint32_t>(server - first_server_);
  }
  [[nodiscard]] std::int32_t first_server() const { return first_server_; }
  [[nodiscard]] std::int32_t last_server() const { return last_server_; }
  [[nodiscard]] std::int32_t first_rack() const { return first_rack_; }
  [[nodiscard]] std::int32_t last_rack() const { return last_rack_; }

 private:
  int partition_;
  std::uint32_t partitions_;
  std::int32_t first_server_;
  std::int32_t last_server_;
  std::int32_t first_rack_;
  std::int32_t last_rack_;
};

// A partition as a graph: each server with its rack, each rack and each other partition with the
// partition, in both directions; of an edge, how much less than a NIC each server below it has
// there. Pure.
[[nodiscard]] GraphFeaturesPtr partition_graph(const GpuClusterModel& model, int partition);

// What does not change from decision to decision. Immutable; any thread.
struct SchedulingScale {
  double mean_job_s = 1;       // what a job takes alone on average
  std::vector<double> leaves;  // [types]: the mean share that a job of it leaves another on a GPU
  std::vector<double> keeps;   // [types]: ... that it keeps itself
  bool messages = true;        // whether what others tell is shown, or looks like nothing at all
};
[[nodiscard]] SchedulingScale scheduling_scale(const GpuClusterModel& model, double mean_job_s);

// As a row of observations has it. Value type; keeps its memory.
struct ShownScheduling {
  int agent = 0;
  std::vector<float> nodes;          // [nodes, kClusterDynamicWidth]
  std::vector<float> globals;        // [scheduling_globals()]
  std::vector<float> offers;         // [offers, offer_features()]
  std::vector<std::uint32_t> where;  // [offers], the node of each

  // `to_come`: the share of the episode's jobs that have not arrived. O(GPUs of the partition +
  // jobs in line + partitions + offers). Pure but for this.
  void look_at(const GpuClusterState& state, const PartitionNodes& nodes,
               const SchedulingScale& scale, const Offers& offers, double to_come);

 private:
  void show_nodes(const GpuClusterState& state, const PartitionNodes& nodes,
                  const SchedulingScale& scale);
  void show_globals(const GpuClusterState& state, const PartitionNodes& nodes,
                    const SchedulingScale& scale, double to_come);
  void show_offers(const GpuClusterState& state, const PartitionNodes& nodes,
                   const SchedulingScale& scale, const Offers& from);

  std::vector<double> lengths_;  // scratch: of waiting jobs
};

}  // namespace pacml::env
