#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "env/gpu_cluster/gpu_topology.h"

namespace pacml::env {

// Steps a second of a whole job, alone on an idle cluster; 0: not known.
struct GpuSpeed {
  double together = 0;  // its GPUs in one server
  double spread = 0;    // over servers
  bool operator==(const GpuSpeed&) const = default;
};

struct GpuJobType {
  // GPU type -> number of GPUs -> speed
  std::map<std::string, std::map<int, GpuSpeed>> speeds;
  double host_load = 0;  // of a GPU on its socket: loading of data, simulation on the CPU; >= 0
  bool operator==(const GpuJobType&) const = default;
};

// What was measured of jobs, alone and in pairs.
struct GpuSpeedTables {
  std::map<std::string, GpuJobType> types;
  // GPU type -> a -> b: speed of a beside b on one GPU, as a share of a alone; absent or 0: they
  // do not fit
  std::map<std::string, std::map<std::string, std::map<std::string, double>>> pairs;
  bool operator==(const GpuSpeedTables&) const = default;
};

// UserError, one sentence: a share of a pair is not 0 or in 1e-9 .. 1e6.
void check_shares(const GpuSpeedTables& tables);

// A type of job on so many GPUs, as the inner loops read it.
struct GpuJobShape {
  std::int32_t type = 0;
  std::int32_t gpus = 0;
  double host_load = 0;
  double best_rate = 0;  // steps/s, alone on the best of the cluster's GPU types
  // Of each GPU type of the cluster: steps/s alone, in one server or, where it is larger than one,
  // over several of a rack; steps/s in one server; seconds that a step spends computing,
  // and on an idle network between servers of one rack.
  std::vector<double> alone = {};
  std::vector<double> together = {};
  std::vector<double> compute_s = {};
  std::vector<double> network_s = {};
};

// The tables, restricted to what runs on each of a cluster's GPU types. Immutable; any thread.
class JobSpeeds {
 public:
  // UserError, one sentence: speeds not 0 or in 1e-12 .. 1e12, host loads not in 0 .. 1e6, shares
  // not 0 or in 1e-9 .. 1e6, sizes not in 1 .. 2^20, more than 2^26 pairs of types on GPU types.
  JobSpeeds(const GpuSpeedTables& tables, const GpuTopology& topology);

  [[nodiscard]] std::span<const std::string> types() const { return types_; }  // by name
  [[nodiscard]] std::span<const GpuJobShape> shapes() const { return shapes_; }
  // UserError: no such type, or not on so many GPUs of every type that the cluster has.
  [[nodiscard]] std::int32_t shape(const std::string& type, int gpus) const;
  // The sizes that a type has a speed at, ascending: number of GPUs -> shape.
  [[nodiscard]] const std::map<int, std::int32_t>& sizes(std::int32_t type) const {
    return shape_of_[static_cast<std::size_t>(type)];
  }
  // How fast `type` runs beside `other` on a GPU, as a share; 0: they do not fit.
  [[nodiscard]] double pair(std::int32_t gpu_type, std::int32_t type, std::int32_t other) const {
    return pairs_[(static_cast<std::size_t>(gpu_type) * types_.size() +
                   static_cast<std::size_t>(type)) *
                      types_.size() +
                  static_cast<std::size_t>(other)];
  }

 private:
  void add_shapes(std::int32_t type, const GpuJobType& speeds, const GpuTopology& topology);

  std::vector<std::string> types_;
  std::vector<std::string> gpu_types_;
  std::vector<GpuJobShape> shapes_;
  std::vector<std::map<int, std::int32_t>> shape_of_;  // [types]: number of GPUs -> shape
  std::vector<double> pairs_;                          // [gpu types, types, types]
};

}  // namespace pacml::env
