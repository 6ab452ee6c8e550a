#include "env/gpu_cluster/gpu_cluster_model.h"

#include <algorithm>

#include "common/result.h"
#include "env/checked.h"

namespace pacml::env {
namespace {

bool is_amount(double v, double most) { return v >= 0 && v <= most; }

}  // namespace

std::vector<std::string> validate(const GpuClusterConfig& c) {
  std::vector<std::string> problems;
  if (c.share < 1 || c.share > 2) problems.emplace_back("share: must be 1 or 2");
  if (!(c.host_cap >= 1e-9 && c.host_cap <= 1e12)) {
    problems.emplace_back("host_cap: must be in 1e-9..1e12");
  }
  if (!std::ranges::all_of(c.kappa, [](double k) { return is_amount(k, 1e6); })) {
    problems.emplace_back("kappa: must be in 0..1e6");
  }
  // Rounds of less would not move the clock.
  if (c.round_s != 0 && !(c.round_s >= 1e-3 && c.round_s <= kMostSeconds)) {
    problems.emplace_back("round_s: must be 0 or in 1e-3..1e12");
  }
  if (!is_amount(c.restart_cost_s, kMostSeconds)) {
    problems.emplace_back("restart_cost_s: must be in 0..1e12");
  }
  if (c.partitions < 1 || c.partitions > 1 << 20) {
    problems.emplace_back("partitions: must be in 1..2^20");
  }
  return problems;
}

GpuClusterModel::GpuClusterModel(const GpuClusterConfig& config, const GpuSpeedTables& tables)
    : config_(checked(config)),
      topology_(config.topology),
      speeds_(tables, topology_),
      host_capacity_(config.host_cap * topology_.per_socket()) {
  const std::int64_t servers = topology_.num_servers();
  const std::int64_t partitions = config.partitions;
  if (partitions > servers) {
    throw UserError("partitions: " + std::to_string(partitions) + " of " + std::to_string(servers) +
                    " servers are too many");
  }
  for (std::int64_t p = 0; p <= partitions; ++p) {
    first_server_.push_back(static_cast<std::int32_t>(servers * p / partitions));
  }
  for (int p = 0; p < config.partitions; ++p) {
    partition_of_.insert(partition_of_.end(),
                         static_cast<std::size_t>(first_server(p + 1) - first_server(p)), p);
    // Servers stand in the order of their types.
    std::vector<std::int32_t>& types = gpu_types_in_.emplace_back();
    for (std::int32_t server = first_server(p); server < first_server(p + 1); ++server) {
      const std::int32_t type = topology_.gpu_type_of(server);
      if (types.empty() || types.back() != type) types.push_back(type);
    }
  }
}

double GpuClusterModel::best_rate_in(int partition, const GpuJobShape& shape) const {
  double best = 0;
  for (const std::int32_t type : gpu_types_in_[static_cast<std::size_t>(partition)]) {
    best = std::max(best, shape.alone[static_cast<std::size_t>(type)]);
  }
  return best;
}

}  // namespace pacml::env
