#include "env/tasks/gpu_scheduling/config.h"

#include <algorithm>
#include <cstdint>

#include "env/tasks/gpu_scheduling/observation.h"

namespace pacml::env {
namespace {

constexpr int kMostAgents = 4096;      // that decide in turns
constexpr int kMostCandidates = 4096;  // that a decision shows

// Servers of the smallest partition, times GPUs of a server; 0: that cannot be said.
std::int64_t smallest_partition(const GpuClusterConfig& c) {
  if (!validate(c).empty() || !validate(c.topology).empty()) return 0;
  std::int64_t servers = c.topology.servers;
  if (!c.topology.dims.empty()) {
    servers = 1;
    for (const std::int64_t side : c.topology.dims) servers *= side;
  }
  return servers / c.partitions *
         (std::int64_t{c.topology.gpus_per_group} * c.topology.groups_per_socket *
          c.topology.sockets);
}

// To wait, the offers, and a place that is not offered.
std::int64_t most_offers(const OffersConfig& c) {
  const std::int64_t of_job = std::int64_t{std::max(c.places, c.sizes)} + c.forwards +
                              (c.forwards > 0 && c.wait_for_faster ? 1 : 0);
  return 2 + c.jobs * of_job;
}

}  // namespace

std::vector<std::string> validate(const OffersConfig& c) {
  std::vector<std::string> problems;
  if (c.jobs < 1 || c.jobs > kMostCandidates) problems.emplace_back("jobs: must be in 1..4096");
  if (c.places < 1 || c.places > kMostCandidates) {
    problems.emplace_back("places: must be in 1..4096");
  }
  if (c.forwards < 0 || c.forwards > kMostCandidates) {
    problems.emplace_back("forwards: must be in 0..4096");
  }
  if (c.handovers < 0) problems.emplace_back("handovers: must be at least 0");
  if (problems.empty() && most_offers(c) > kMostCandidates) {
    problems.emplace_back("jobs: with their places and forwards they must be fewer than 4096");
  }
  return problems;
}

std::vector<std::string> workload_problems(const GpuWorkloadConfig& c) {
  std::vector<std::string> problems;
  if (c.cluster.partitions > kMostAgents) {
    problems.emplace_back("cluster.partitions: must be in 1..4096");
  }
  if (c.cluster.restart_cost_s != 0) {
    problems.emplace_back("cluster.restart_cost_s: nothing is pre-empted in this task");
  }
  if (!c.job_lists.empty() && !c.trace.file.empty()) {
    problems.emplace_back("job_lists: jobs are those of the lists, or of trace.file; name one");
  }
  const std::int64_t smallest = smallest_partition(c.cluster);
  if (c.job_lists.empty() && smallest > 0 && c.jobs.largest_gpus > smallest) {
    problems.push_back("jobs.largest_gpus: the smallest partition has " + std::to_string(smallest) +
                       " GPUs");
  }
  return problems;
}

std::vector<std::string> one_scheduler_problems(const GpuWorkloadConfig& c, PlacementRule place) {
  std::vector<std::string> problems = workload_problems(c);
  if (c.cluster.partitions != 1) {
    problems.emplace_back("cluster.partitions: this task has one scheduler, so that it must be 1");
  }
  if (place == PlacementRule::kRandom) {
    problems.emplace_back(
        "place: an offer says where its job would run, so that it cannot be random");
  }
  return problems;
}

ObservationSpec scheduling_observation(const GpuClusterConfig& cluster,
                                       const OffersConfig& offers) {
  ObservationSpec spec;
  spec.slots = {{.name = "servers",
                 .node_width = kClusterNodeWidth,
                 .edge_width = kClusterEdgeWidth,
                 .dynamic_width = kClusterDynamicWidth}};
  spec.globals = scheduling_globals();
  spec.candidates.most = static_cast<std::uint32_t>(most_offers(offers));
  spec.candidates.vary = true;
  spec.candidates.features = offer_features();
  spec.candidates.node_slot = 0;
  spec.agents = static_cast<std::uint32_t>(cluster.partitions);
  return spec;
}

}  // namespace pacml::env
