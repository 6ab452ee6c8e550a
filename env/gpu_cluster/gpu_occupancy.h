#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/check.h"
#include "env/gpu_cluster/free_servers.h"
#include "env/gpu_cluster/gpu_cluster_model.h"

namespace pacml::env {

// Which jobs are on which GPUs, and what is idle. Thread-confined.
class GpuOccupancy {
 public:
  static constexpr int kWholeCluster = -1;  // instead of a partition

  explicit GpuOccupancy(GpuClusterModelPtr model);

  // The jobs on a GPU; -1: none. The first is there when the second is.
  [[nodiscard]] std::int32_t resident(std::int32_t gpu, int which) const {
    return residents_[2 * at(gpu) + static_cast<std::size_t>(which)];
  }
  [[nodiscard]] bool is_idle(std::int32_t gpu) const { return resident(gpu, 0) < 0; }
  [[nodiscard]] std::int32_t idle_in_group(std::int32_t g) const { return idle_in_group_[at(g)]; }
  [[nodiscard]] std::int32_t idle_in_socket(std::int32_t s) const { return idle_in_socket_[at(s)]; }
  [[nodiscard]] std::int32_t idle_in_server(std::int32_t s) const { return idle_in_server_[at(s)]; }
  [[nodiscard]] const FreeServers& free_servers(int partition) const {
    return free_[scope(partition)];
  }
  // Changes whenever a job begins or ends to hold GPUs of the partition.
  [[nodiscard]] std::uint64_t version(int partition) const { return versions_[scope(partition)]; }

  // The GPUs, ascending, become the job's, or are its no longer; beside(other) for each of them on
  // which there is another one. Pre, PACML_CHECK: they have room.
  template <class Beside>
  void put(std::int32_t job, std::span<const std::int32_t> gpus, Beside&& beside) {
    for (const std::int32_t g : gpus) {
      std::int32_t* residents = &residents_[2 * at(g)];
      if (residents[0] < 0) {
        residents[0] = job;
        set_idle(g, -1);
        continue;
      }
      PACML_CHECK(residents[1] < 0 && model_->config().share > 1, "a GPU has room for the job");
      residents[1] = job;
      beside(residents[0]);
    }
    count_versions(gpus);
  }
  template <class Beside>
  void take(std::int32_t job, std::span<const std::int32_t> gpus, Beside&& beside) {
    for (const std::int32_t g : gpus) {
      std::int32_t* residents = &residents_[2 * at(g)];
      if (residents[0] == job) residents[0] = std::exchange(residents[1], -1);
      residents[1] = -1;
      if (residents[0] < 0) {
        set_idle(g, 1);
      } else {
        beside(residents[0]);
      }
    }
    count_versions(gpus);
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::size_t scope(int partition) const {
    return partition < 0 ? free_.size() - 1 : static_cast<std::size_t>(partition);
  }
  void set_idle(std::int32_t gpu, int change);
  void count_versions(std::span<const std::int32_t> gpus);

  GpuClusterModelPtr model_;
  std::vector<std::int32_t> residents_;  // [gpus, 2]
  std::vector<std::int32_t> idle_in_group_;
  std::vector<std::int32_t> idle_in_socket_;
  std::vector<std::int32_t> idle_in_server_;
  std::vector<FreeServers> free_;  // [partitions], and of all where there are several
  std::vector<std::uint64_t> versions_;
};

}  // namespace pacml::env
