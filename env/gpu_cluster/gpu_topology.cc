#include "env/gpu_cluster/gpu_topology.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/result.h"

namespace pacml::env {
namespace {

// Far from where sums and quotients would overflow or vanish.
bool is_ratio(double v) { return v >= 1e-6 && v <= 1e6; }

// Servers of the torus or the tree; -1: more than there can be.
std::int64_t servers_of(const GpuTopologyConfig& c) {
  if (c.dims.empty()) return c.servers;
  std::int64_t servers = 1;
  for (const std::int64_t d : c.dims) {
    if (d < 1 || d > kMostGpus) return -1;
    servers *= d;
    if (servers > kMostGpus) return -1;
  }
  return servers;
}

}  // namespace

std::vector<std::string> validate(const GpuTypeServers& c) {
  std::vector<std::string> problems;
  if (c.type.empty()) problems.emplace_back("type: must not be empty");
  if (c.servers < 1 || c.servers > kMostGpus) problems.emplace_back("servers: must be in 1..2^20");
  return problems;
}

std::vector<std::string> validate(const GpuTopologyConfig& c) {
  std::vector<std::string> problems;
  const auto in_range = [&](const char* key, std::int64_t value, std::int64_t least,
                            std::int64_t most) {
    if (value >= least && value <= most) return;
    problems.push_back(std::string(key) + ": must be in " + std::to_string(least) + ".." +
                       std::to_string(most));
  };
  in_range("gpus_per_group", c.gpus_per_group, 1, kMostGpusPerServer);
  in_range("groups_per_socket", c.groups_per_socket, 1, kMostGpusPerServer);
  in_range("sockets", c.sockets, 1, kMostGpusPerServer);
  in_range("servers_per_rack", c.servers_per_rack, 0, kMostGpus);
  in_range("racks_per_pod", c.racks_per_pod, 0, kMostGpus);
  if (c.dims.empty()) in_range("servers", c.servers, 1, kMostGpus);
  if (c.dims.size() > 8) problems.emplace_back("dims: must be 8 at most");
  if (!is_ratio(c.oversub_rack)) problems.emplace_back("oversub_rack: must be in 1e-6..1e6");
  if (!is_ratio(c.oversub_pod)) problems.emplace_back("oversub_pod: must be in 1e-6..1e6");
  if (!problems.empty()) return problems;

  const std::int64_t per_server =
      std::int64_t{c.gpus_per_group} * c.groups_per_socket * std::int64_t{c.sockets};
  in_range("gpus_per_group x groups_per_socket x sockets", per_server, 1, kMostGpusPerServer);
  const std::int64_t servers = servers_of(c);
  if (servers < 0 || servers * per_server > kMostGpus) {
    problems.push_back("servers: a cluster has at most " + std::to_string(kMostGpus) +
                       " GPUs, and every side of a torus at least one server");
    return problems;
  }
  std::int64_t typed = 0;
  for (const GpuTypeServers& type : c.gpu_types) {
    typed += std::clamp<std::int64_t>(type.servers, 0, kMostGpus);
  }
  if (typed != servers) {
    problems.push_back("gpu_types: they are of " + std::to_string(typed) +
                       " servers, the cluster has " + std::to_string(servers));
  }
  return problems;
}

GpuTopology::GpuTopology(const GpuTopologyConfig& config) : config_(config) {
  for (const GpuTypeServers& type : config.gpu_types) {
    if (const auto problems = validate(type); !problems.empty()) {
      throw UserError("gpu_types." + problems.front());
    }
  }
  if (const auto problems = validate(config); !problems.empty()) throw UserError(problems.front());
  const auto servers = static_cast<std::int32_t>(servers_of(config));
  per_socket_ = config.gpus_per_group * config.groups_per_socket;
  per_server_ = per_socket_ * config.sockets;
  per_rack_ = config.servers_per_rack == 0 ? servers : config.servers_per_rack;
  num_racks_ = (servers + per_rack_ - 1) / per_rack_;
  racks_per_pod_ = config.racks_per_pod == 0 ? num_racks_ : config.racks_per_pod;
  for (std::int32_t g = 0; g < servers * per_server_; ++g) {
    server_of_.push_back(g / per_server_);
    socket_of_.push_back(g / per_socket_);
  }
  for (std::int32_t s = 0; s < servers; ++s) {
    rack_of_.push_back(s / per_rack_);
    pod_of_.push_back(rack_of_.back() / racks_per_pod_);
  }
  std::set<std::string> names;
  for (const GpuTypeServers& type : config.gpu_types) names.insert(type.type);
  gpu_types_.assign(names.begin(), names.end());
  for (const GpuTypeServers& type : config.gpu_types) {
    const auto index = std::ranges::lower_bound(gpu_types_, type.type) - gpu_types_.begin();
    gpu_type_of_.insert(gpu_type_of_.end(), at(type.servers), static_cast<std::int32_t>(index));
  }
  if (is_torus()) {
    capacity_.assign(at(servers) * 2 * config.dims.size(), 1.0);
    return;
  }
  const double rack_capacity = per_rack_ / config.oversub_rack;
  const double pod_capacity = rack_capacity * racks_per_pod_ / config.oversub_pod;
  capacity_.assign(at(servers), 1.0);
  capacity_.insert(capacity_.end(), at(num_racks_), rack_capacity);
  capacity_.insert(capacity_.end(), at(pod_of_.back()) + 1, pod_capacity);
}

GpuLevel GpuTopology::level(std::int32_t lowest, std::int32_t highest) const {
  if (lowest / per_group() == highest / per_group()) return GpuLevel::kGroup;
  if (socket_of(lowest) == socket_of(highest)) return GpuLevel::kSocket;
  const std::int32_t first = server_of(lowest);
  const std::int32_t last = server_of(highest);
  if (first == last) return GpuLevel::kServer;
  if (is_torus() || rack_of(first) == rack_of(last)) return GpuLevel::kRack;
  return pod_of(first) == pod_of(last) ? GpuLevel::kPod : GpuLevel::kCore;
}

void GpuTopology::links(std::span<const std::int32_t> servers, GpuComm comm,
                        std::vector<LinkWeight>& out) const {
  out.clear();
  if (servers.size() < 2) return;
  is_torus() ? ring_links(servers, out) : tree_links(servers, comm, out);
}

// Of m servers, a below an uplink: a ring crosses it once; with the parameters spread over all m,
// each of the a exchanges its share with the other m - a.
void GpuTopology::tree_links(std::span<const std::int32_t> servers, GpuComm comm,
                             std::vector<LinkWeight>& out) const {
  for (const std::int32_t s : servers) out.push_back({s, 1.0});
  const auto m = static_cast<double>(servers.size());
  const auto add_uplinks = [&](const std::vector<std::int32_t>& above, std::int32_t base) {
    if (above[at(servers.front())] == above[at(servers.back())]) return;
    for (std::size_t i = 0; i < servers.size();) {
      const std::int32_t id = above[at(servers[i])];
      const std::size_t begin = i;
      while (i < servers.size() && above[at(servers[i])] == id) ++i;
      const auto a = static_cast<double>(i - begin);
      out.push_back({base + id, comm == GpuComm::kRing ? 1.0 : a * (m - a) / (m - 1)});
    }
  };
  add_uplinks(rack_of_, num_servers());
  add_uplinks(pod_of_, num_servers() + num_racks_);
}

// The servers as a ring in ascending order; a link counts once for every hop that crosses it.
void GpuTopology::ring_links(std::span<const std::int32_t> servers,
                             std::vector<LinkWeight>& out) const {
  for (std::size_t i = 0; i < servers.size(); ++i) {
    route(servers[i], servers[i + 1 == servers.size() ? 0 : i + 1], out);
  }
  std::ranges::sort(out, {}, &LinkWeight::link);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (out[i].link == out[kept].link) {
      out[kept].weight += out[i].weight;
    } else {
      out[++kept] = out[i];
    }
  }
  out.resize(kept + 1);
}

// Dimension by dimension, the shorter way round; "plus" where both are equally long. Links of a
// server are numbered by dimension, plus before minus.
void GpuTopology::route(std::int32_t from, std::int32_t to, std::vector<LinkWeight>& out) const {
  const auto num_dims = static_cast<std::int32_t>(config_.dims.size());
  std::int32_t stride = num_servers();
  for (std::int32_t k = 0; k < num_dims; ++k) {
    const auto side = static_cast<std::int32_t>(config_.dims[at(k)]);
    stride /= side;
    std::int32_t x = from / stride % side;
    const std::int32_t forward = (to / stride % side - x + side) % side;
    const bool is_plus = forward <= side - forward;
    for (std::int32_t hops = is_plus ? forward : side - forward; hops > 0; --hops) {
      out.push_back({from * 2 * num_dims + 2 * k + (is_plus ? 0 : 1), 1.0});
      const std::int32_t next = (x + (is_plus ? 1 : side - 1)) % side;
      from += (next - x) * stride;
      x = next;
    }
  }
}

}  // namespace pacml::env
