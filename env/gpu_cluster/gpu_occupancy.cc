#include "env/gpu_cluster/gpu_occupancy.h"

namespace pacml::env {

GpuOccupancy::GpuOccupancy(GpuClusterModelPtr model) : model_(std::move(model)) {
  const GpuTopology& t = model_->topology();
  const int partitions = model_->config().partitions;
  residents_.assign(2 * at(t.num_gpus()), -1);
  idle_in_group_.assign(at(t.num_groups()), t.per_group());
  idle_in_socket_.assign(at(t.num_sockets()), t.per_socket());
  idle_in_server_.assign(at(t.num_servers()), t.per_server());
  for (int p = 0; p < partitions; ++p) {
    free_.emplace_back(model_->first_server(p), model_->first_server(p + 1), t.per_server());
  }
  if (partitions > 1) free_.emplace_back(0, t.num_servers(), t.per_server());
  versions_.resize(free_.size());
}

void GpuOccupancy::set_idle(std::int32_t gpu, int change) {
  const GpuTopology& t = model_->topology();
  const std::int32_t server = t.server_of(gpu);
  idle_in_group_[at(t.group_of(gpu))] += change;
  idle_in_socket_[at(t.socket_of(gpu))] += change;
  const std::int32_t before = idle_in_server_[at(server)];
  idle_in_server_[at(server)] += change;
  free_[at(model_->partition_of(server))].move(server, before, before + change);
  if (free_.size() > 1) free_.back().move(server, before, before + change);
}

void GpuOccupancy::count_versions(std::span<const std::int32_t> gpus) {
  int last = kWholeCluster;
  for (const std::int32_t g : gpus) {
    const int partition = model_->partition_of(model_->topology().server_of(g));
    if (partition == last) continue;
    ++versions_[at(partition)];
    last = partition;
  }
  if (free_.size() > 1) ++versions_.back();
}

}  // namespace pacml::env
