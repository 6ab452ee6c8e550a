#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "env/gpu_cluster/gpu_topology.h"
#include "env/gpu_cluster/job_speeds.h"

namespace pacml::env {

// Which scheduler a job is brought to.
enum class JobRoute {
  kHome,         // by its number (GpuJobSpec), in turn
  kLeastLoaded,  // whose jobs, waiting or running, want the fewest GPUs for its servers
};
constexpr auto enum_names(JobRoute /*unused*/) {
  return std::to_array<EnumName<JobRoute>>(
      {{"home", JobRoute::kHome}, {"least_loaded", JobRoute::kLeastLoaded}});
}

// A cluster on which jobs run and how they disturb one another (docs/gpu_cluster.md).
struct GpuClusterConfig {
  GpuTopologyConfig topology = {};
  int share = 1;          // jobs on a GPU at one time: 1 or 2
  double host_cap = 1e9;  // host load that a socket carries undisturbed, for each of its GPUs
  // Seconds on the network as a share of what they are between servers of a rack, by level: group,
  // socket, server, rack, pod, core.
  std::array<double, kGpuLevels> kappa = {0.0, 0.1, 0.25, 1.0, 1.1, 1.2};
  double round_s = 0;         // decisions are taken at multiples of it; 0: when something happens
  double restart_cost_s = 0;  // a job that was pre-empted holds its GPUs so long before it goes on
  int partitions = 1;         // schedulers, each with its share of the servers
  JobRoute route = JobRoute::kHome;
  bool operator==(const GpuClusterConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, GpuClusterConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("topology", c.topology);
  v("share", c.share);
  v("host_cap", c.host_cap);
  v("kappa", c.kappa);
  v("round_s", c.round_s);
  v("restart_cost_s", c.restart_cost_s);
  v("partitions", c.partitions);
  v("route", c.route);
}
[[nodiscard]] std::vector<std::string> validate(const GpuClusterConfig& c);

// Times are seconds and far from where a step of a simulation would be lost in rounding.
inline constexpr double kMostSeconds = 1e12;
inline constexpr double kMostSteps = 1e15;

// A job as a trace has it.
struct GpuJobSpec {
  double submit_s = 0;  // 0 .. kMostSeconds
  std::string type;
  int gpus = 1;      // all at once, from the beginning to the end
  double steps = 1;  // above 0, up to kMostSteps
  std::string user = "u0";
  GpuComm comm = GpuComm::kRing;
  // By which it is brought to a scheduler, wherever it stands; none: its place in the list. Not
  // unique where a future is drawn from another list.
  std::optional<std::int32_t> number = {};
  bool operator==(const GpuJobSpec&) const = default;
};

// A cluster and what is known of the speed of jobs on it. Immutable; any thread.
class GpuClusterModel {
 public:
  // UserError with the first problem of the settings or the tables.
  GpuClusterModel(const GpuClusterConfig& config, const GpuSpeedTables& tables);

  [[nodiscard]] const GpuClusterConfig& config() const { return config_; }
  [[nodiscard]] const GpuTopology& topology() const { return topology_; }
  [[nodiscard]] const JobSpeeds& speeds() const { return speeds_; }
  // Host load of a socket from which on its jobs are slowed down.
  [[nodiscard]] double host_capacity() const { return host_capacity_; }
  // Servers first_server(p) .. first_server(p + 1) - 1 are partition p's.
  [[nodiscard]] std::int32_t first_server(int partition) const {
    return first_server_[static_cast<std::size_t>(partition)];
  }
  [[nodiscard]] int partition_of(std::int32_t server) const {
    return partition_of_[static_cast<std::size_t>(server)];
  }
  [[nodiscard]] std::int32_t num_gpus(int partition) const {
    return (first_server(partition + 1) - first_server(partition)) * topology_.per_server();
  }
  // Steps/s of such a job in one server of the partition's GPU type that is fastest for it.
  [[nodiscard]] double best_rate_in(int partition, const GpuJobShape& shape) const;

 private:
  GpuClusterConfig config_;
  GpuTopology topology_;
  JobSpeeds speeds_;
  double host_capacity_ = 0;
  std::vector<std::int32_t> first_server_;               // [partitions + 1]
  std::vector<int> partition_of_;                        // [servers]
  std::vector<std::vector<std::int32_t>> gpu_types_in_;  // [partitions], ascending
};
using GpuClusterModelPtr = std::shared_ptr<const GpuClusterModel>;

}  // namespace pacml::env
