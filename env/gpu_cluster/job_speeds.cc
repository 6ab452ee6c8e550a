#include "env/gpu_cluster/job_speeds.h"

#include <algorithm>

#include "common/result.h"

namespace pacml::env {
namespace {

bool is_speed(double v) { return v >= 1e-12 && v <= 1e12; }
// Zero: it was not measured.
bool is_speed_or_hole(double v) { return v == 0 || is_speed(v); }
bool is_load(double v) { return v >= 0 && v <= 1e6; }
// Zero: they do not fit.
bool is_share(double v) { return v == 0 || (v >= 1e-9 && v <= 1e6); }

// Of pairs of types on a type of GPUs: half a gigabyte.
constexpr std::size_t kMostPairs = std::size_t{1} << 26;

void check(const std::string& name, const GpuJobType& type) {
  const std::string of = "job type \"" + name + "\"";
  if (!is_load(type.host_load)) throw UserError(of + ": its host load must be in 0..1e6");
  for (const auto& [gpu_type, sizes] : type.speeds) {
    for (const auto& [gpus, speed] : sizes) {
      const std::string on = of + " on " + std::to_string(gpus) + " GPUs of type " + gpu_type;
      if (gpus < 1 || gpus > kMostGpus) throw UserError(on + ": sizes are in 1..2^20");
      if (!is_speed_or_hole(speed.together) || !is_speed_or_hole(speed.spread)) {
        throw UserError(on + ": its speeds must be 0 or in 1e-12..1e12 steps/s");
      }
    }
  }
}

}  // namespace

void check_shares(const GpuSpeedTables& tables) {
  for (const auto& [gpu_type, rows] : tables.pairs) {
    for (const auto& [a, row] : rows) {
      for (const auto& [b, share] : row) {
        if (is_share(share)) continue;
        throw UserError("pair \"" + a + "\" beside \"" + b + "\" on " + gpu_type +
                        ": the share must be 0 or in 1e-9..1e6");
      }
    }
  }
}

JobSpeeds::JobSpeeds(const GpuSpeedTables& tables, const GpuTopology& topology)
    : gpu_types_(topology.gpu_types().begin(), topology.gpu_types().end()) {
  for (const auto& [name, type] : tables.types) {
    check(name, type);
    types_.push_back(name);
    shape_of_.emplace_back();
    add_shapes(static_cast<std::int32_t>(types_.size()) - 1, type, topology);
  }
  const std::size_t n = types_.size();
  if (n > 0 && n > kMostPairs / gpu_types_.size() / n) {
    throw UserError("there are " + std::to_string(n) + " types of jobs on " +
                    std::to_string(gpu_types_.size()) +
                    " types of GPUs, of whose pairs there can be 2^26");
  }
  pairs_.assign(gpu_types_.size() * n * n, 0.0);
  const auto index = [&](const std::string& name) {
    const auto it = std::ranges::lower_bound(types_, name);
    return it != types_.end() && *it == name ? static_cast<std::size_t>(it - types_.begin()) : n;
  };
  check_shares(tables);
  for (const auto& [gpu_type, rows] : tables.pairs) {
    const auto it = std::ranges::find(gpu_types_, gpu_type);
    if (it == gpu_types_.end()) continue;
    const auto gt = static_cast<std::size_t>(it - gpu_types_.begin());
    for (const auto& [a, row] : rows) {
      for (const auto& [b, share] : row) {
        if (index(a) == n || index(b) == n) continue;
        pairs_[(gt * n + index(a)) * n + index(b)] = share;
      }
    }
  }
}

void JobSpeeds::add_shapes(std::int32_t type, const GpuJobType& speeds,
                           const GpuTopology& topology) {
  const auto first = speeds.speeds.find(gpu_types_.front());
  if (first == speeds.speeds.end()) return;
  for (const auto& [gpus, unused] : first->second) {
    GpuJobShape shape{.type = type, .gpus = gpus, .host_load = speeds.host_load};
    for (const std::string& gpu_type : gpu_types_) {
      const auto sizes = speeds.speeds.find(gpu_type);
      if (sizes == speeds.speeds.end()) return;
      const auto speed = sizes->second.find(gpus);
      if (speed == sizes->second.end()) break;
      const auto [together, spread] = speed->second;
      if (together == 0 || (gpus > 1 && spread == 0)) break;
      shape.alone.push_back(gpus > topology.per_server() ? spread : together);
      shape.together.push_back(together);
      shape.compute_s.push_back(1.0 / together);
      shape.network_s.push_back(gpus > 1 ? std::max(0.0, 1.0 / spread - 1.0 / together) : 0.0);
      shape.best_rate = std::max(shape.best_rate, shape.alone.back());
    }
    if (shape.compute_s.size() != gpu_types_.size()) continue;
    shape_of_.back().emplace(gpus, static_cast<std::int32_t>(shapes_.size()));
    shapes_.push_back(std::move(shape));
  }
}

std::int32_t JobSpeeds::shape(const std::string& type, int gpus) const {
  const auto it = std::ranges::lower_bound(types_, type);
  if (it == types_.end() || *it != type) throw UserError("there is no job type \"" + type + "\"");
  const auto& sizes = shape_of_[static_cast<std::size_t>(it - types_.begin())];
  const auto found = sizes.find(gpus);
  if (found == sizes.end()) {
    throw UserError("job type \"" + type + "\" has no speed on " + std::to_string(gpus) +
                    " GPUs of every type of the cluster");
  }
  return found->second;
}

}  // namespace pacml::env
