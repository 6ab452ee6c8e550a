#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/index.h"

namespace pacml::env {

// How the GPUs of a job exchange what they computed.
enum class GpuComm {
  kRing,              // all-reduce
  kParameterServers,  // sharded evenly over the job's servers
};
constexpr auto enum_names(GpuComm /*unused*/) {
  return std::to_array<EnumName<GpuComm>>(
      {{"ring", GpuComm::kRing}, {"ps", GpuComm::kParameterServers}});
}

// So many servers, one after the other, with GPUs of one type.
struct GpuTypeServers {
  std::string type;
  int servers = 0;
  bool operator==(const GpuTypeServers&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, GpuTypeServers>
void visit_fields(Config& c, Visitor&& v) {
  v("type", c.type);
  v("servers", c.servers);
}
[[nodiscard]] std::vector<std::string> validate(const GpuTypeServers& c);

// A cluster from the groups of GPUs within a server up to pods of racks (docs/gpu_cluster.md).
struct GpuTopologyConfig {
  int gpus_per_group = 4;  // behind one PCIe switch, or on one NVLink island
  int groups_per_socket = 1;
  int sockets = 2;  // of a server
  int servers = 16;
  std::vector<std::int64_t> dims =
      {};                    // a torus of servers instead of a tree; the last varies fastest
  int servers_per_rack = 0;  // 0: all
  int racks_per_pod = 0;     // 0: all, a leaf-spine network
  double oversub_rack = 1;   // what a rack's NICs carry together, over its uplink
  double oversub_pod = 1;    // what a pod's racks carry together, over its uplink
  std::vector<GpuTypeServers> gpu_types = {{"v100", 16}};
  bool operator==(const GpuTopologyConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, GpuTopologyConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("gpus_per_group", c.gpus_per_group);
  v("groups_per_socket", c.groups_per_socket);
  v("sockets", c.sockets);
  v("servers", c.servers);
  v("dims", c.dims);
  v("servers_per_rack", c.servers_per_rack);
  v("racks_per_pod", c.racks_per_pod);
  v("oversub_rack", c.oversub_rack);
  v("oversub_pod", c.oversub_pod);
  v("gpu_types", c.gpu_types);
}
[[nodiscard]] std::vector<std::string> validate(const GpuTopologyConfig& c);

inline constexpr std::int64_t kMostGpus = 1 << 20;
inline constexpr int kMostGpusPerServer = 1024;

// How far apart the GPUs of a job are.
enum class GpuLevel : std::uint8_t { kGroup, kSocket, kServer, kRack, kPod, kCore };
inline constexpr std::size_t kGpuLevels = 6;

// What a job puts on a link when it spends all its time there, in units of a NIC.
struct LinkWeight {
  std::int32_t link = 0;
  double weight = 0;
  bool operator==(const LinkWeight&) const = default;
};

// GPU, group, socket, server, rack, pod: ids are dense at each level, and what lies below id i of
// a level has consecutive ids. Links are the NIC of each server, the uplink of each rack and of
// each pod; on a torus, one in each direction of each dimension from each server. Immutable; any
// thread.
class GpuTopology {
 public:
  // UserError with the first problem of validate(config).
  explicit GpuTopology(const GpuTopologyConfig& config);

  [[nodiscard]] const GpuTopologyConfig& config() const { return config_; }
  [[nodiscard]] std::int32_t per_group() const { return config_.gpus_per_group; }
  [[nodiscard]] std::int32_t per_socket() const { return per_socket_; }
  [[nodiscard]] std::int32_t per_server() const { return per_server_; }
  [[nodiscard]] std::int32_t num_servers() const {
    return static_cast<std::int32_t>(rack_of_.size());
  }
  [[nodiscard]] std::int32_t num_gpus() const { return num_servers() * per_server_; }
  [[nodiscard]] std::int32_t num_sockets() const { return num_servers() * config_.sockets; }
  [[nodiscard]] std::int32_t num_groups() const { return num_gpus() / per_group(); }
  [[nodiscard]] std::int32_t num_racks() const { return num_racks_; }
  [[nodiscard]] std::int32_t server_of(std::int32_t gpu) const { return server_of_[at(gpu)]; }
  [[nodiscard]] std::int32_t socket_of(std::int32_t gpu) const { return socket_of_[at(gpu)]; }
  [[nodiscard]] std::int32_t group_of(std::int32_t gpu) const { return gpu / per_group(); }
  [[nodiscard]] std::int32_t rack_of(std::int32_t server) const { return rack_of_[at(server)]; }
  [[nodiscard]] std::int32_t pod_of(std::int32_t server) const { return pod_of_[at(server)]; }

  // Types of GPUs by name, so that comparing indices compares names.
  [[nodiscard]] std::span<const std::string> gpu_types() const { return gpu_types_; }
  [[nodiscard]] std::int32_t gpu_type_of(std::int32_t server) const {
    return gpu_type_of_[at(server)];
  }

  // Of what holds the lowest and the highest GPU of a job.
  [[nodiscard]] GpuLevel level(std::int32_t lowest, std::int32_t highest) const;

  [[nodiscard]] std::size_t num_links() const { return capacity_.size(); }
  [[nodiscard]] double capacity(std::int32_t link) const { return capacity_[at(link)]; }
  [[nodiscard]] const std::vector<double>& capacities() const { return capacity_; }  // [links]
  // Replaces `out` by the links of a job on these servers, each once. Pre: ascending, each once.
  void links(std::span<const std::int32_t> servers, GpuComm comm,
             std::vector<LinkWeight>& out) const;

 private:
  [[nodiscard]] bool is_torus() const { return !config_.dims.empty(); }
  void tree_links(std::span<const std::int32_t> servers, GpuComm comm,
                  std::vector<LinkWeight>& out) const;
  void ring_links(std::span<const std::int32_t> servers, std::vector<LinkWeight>& out) const;
  void route(std::int32_t from, std::int32_t to, std::vector<LinkWeight>& out) const;

  GpuTopologyConfig config_;
  std::int32_t per_socket_ = 0;
  std::int32_t per_server_ = 0;
  std::int32_t per_rack_ = 0;
  std::int32_t racks_per_pod_ = 0;
  std::int32_t num_racks_ = 0;
  std::vector<std::int32_t> server_of_;  // [gpus]
  std::vector<std::int32_t> socket_of_;  // [gpus]
  std::vector<std::int32_t> rack_of_;    // [servers]
  std::vector<std::int32_t> pod_of_;     // [servers]
  std::vector<std::string> gpu_types_;
  std::vector<std::int32_t> gpu_type_of_;  // [servers]
  std::vector<double> capacity_;           // [links]
};

}  // namespace pacml::env
