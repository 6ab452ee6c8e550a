#pragma once

#include <concepts>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "env/gpu_cluster/gpu_topology.h"
#include "env/gpu_cluster/job_speeds.h"
#include "env/graph/profile.h"

namespace pacml::env {

// Speeds that nobody measured at every size: each job is a graph of operations that was profiled on
// one GPU, and a step of it on n of them is simulated, its operations cut into up to n pieces.
struct GraphSpeedsConfig {
  std::vector<std::string> models = {};  // empty: all of the folder, or the usual built-in ones
  int largest = 16;                      // GPUs; sizes are 1, 2, 4, 6 ... up to it
  double op_quantum = 0.01;        // ms; an operation is not cut into shorter pieces than this
  double link_bandwidth = 400e9;   // bytes/s that a GPU sends and receives at once
  double link_latency_s = 1e-6;    // of each transfer
  double gpu_memory_bytes = 80e9;  // sizes at which a job has no room are left out
  bool operator==(const GraphSpeedsConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, GraphSpeedsConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("models", c.models);
  v("largest", c.largest);
  v("op_quantum", c.op_quantum);
  v("link_bandwidth", c.link_bandwidth);
  v("link_latency_s", c.link_latency_s);
  v("gpu_memory_bytes", c.gpu_memory_bytes);
}
[[nodiscard]] std::vector<std::string> validate(const GraphSpeedsConfig& c);

// A type of job for each profile, with the same speeds on each of the types of GPUs. In one step
// (env/ramp/lookahead.h, corrected semantics), the time in which an operation runs is what the job
// computes, and makes its speed in one server; the rest it waits for the network, and all of it is
// its speed over servers. A GPU's link is shared evenly by all with whom it exchanges data in the
// step; who else uses the network is the cluster's concern. A size that a job cannot be cut for is
// left out. Hosts carry no load, and no two jobs fit on a GPU. Pure.
//
// UserError: a model is there twice, or no size has room for one; one that is cut too often to be
// simulated.
[[nodiscard]] GpuSpeedTables graph_speeds(std::span<const Profile> profiles,
                                          const GraphSpeedsConfig& config,
                                          std::span<const GpuTypeServers> gpu_types);

}  // namespace pacml::env
