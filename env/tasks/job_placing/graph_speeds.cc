#include "env/tasks/job_placing/graph_speeds.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "common/result.h"
#include "env/graph/partitioned_graph.h"
#include "env/ramp/communication.h"
#include "env/ramp/lookahead.h"
#include "env/ramp/placement.h"
#include "env/ramp/topology.h"
#include "env/semantics.h"

namespace pacml::env {
namespace {

constexpr int kMostGpusOfJob = 64;
constexpr std::size_t kMostBytesOfJob = std::size_t{1} << 30;  // cut into pieces
constexpr double kSecondsOfProfile = 1e-3;                     // its times are in milliseconds

// So many workers, each with one link to all the others, of which each pair has an even share.
class SharedLinks final : public NetworkCosts {
 public:
  SharedLinks(const GraphSpeedsConfig& config, int workers)
      : latency_s_(config.link_latency_s),
        pair_bandwidth_(config.link_bandwidth / std::max(1, workers - 1)) {}

  [[nodiscard]] double one_to_one(double bytes) const override {
    return bytes == 0 ? 0 : latency_s_ + bytes / pair_bandwidth_;
  }
  // Round a ring, once to reduce and once to tell; its members have the shares of all their pairs.
  [[nodiscard]] double collective(double bytes, const CollectiveSpan& span) const override {
    const double others = span.servers - 1;
    return 2 * (others * latency_s_ + bytes / span.servers / pair_bandwidth_);
  }

 private:
  double latency_s_;
  double pair_bandwidth_;  // bytes/s
};

// On workers that have nothing else to do. nullopt: on fewer as well, or there is no room.
std::optional<GpuSpeed> speed_on(const JobGraphPtr& graph, int workers,
                                 const GraphSpeedsConfig& config) {
  const SemanticSwitches semantics = preset(Semantics::kCorrected);
  const PartitionedGraph job(graph, workers, config.op_quantum, kSecondsOfProfile,
                             DependencyBytes::kActivation);
  if (job.degree() < workers) return {};
  const Topology topology({1, 1, workers}, workers);
  const auto placement = place_first_fit(job, topology, config.gpu_memory_bytes, ServerSet(workers),
                                         semantics.full_memory_check);
  if (!placement) return {};
  const auto server = server_of_ops(job, *placement);
  const auto run_times = raw_run_times(job, server, topology, SharedLinks(config, workers));
  const Lookahead step = simulate_step(job, *placement, server, run_times, workers, semantics);
  return GpuSpeed{.together = 1 / step.computation_time, .spread = 1 / step.step_time};
}

bool is_amount(double v, double least, double most) { return v >= least && v <= most; }

}  // namespace

std::vector<std::string> validate(const GraphSpeedsConfig& c) {
  std::vector<std::string> problems;
  if (c.largest < 1 || c.largest > kMostGpusOfJob || (c.largest > 1 && c.largest % 2 != 0)) {
    problems.emplace_back("largest: must be 1, or even and up to 64");
  }
  if (!is_amount(c.op_quantum, 1e-9, 1e15))
    problems.emplace_back("op_quantum: must be in 1e-9..1e15");
  if (!is_amount(c.link_bandwidth, 1, 1e24)) {
    problems.emplace_back("link_bandwidth: must be in 1..1e24");
  }
  if (!is_amount(c.link_latency_s, 0, 1e6)) {
    problems.emplace_back("link_latency_s: must be in 0..1e6");
  }
  if (!is_amount(c.gpu_memory_bytes, 1, 1e24)) {
    problems.emplace_back("gpu_memory_bytes: must be in 1..1e24");
  }
  return problems;
}

GpuSpeedTables graph_speeds(std::span<const Profile> profiles, const GraphSpeedsConfig& config,
                            std::span<const GpuTypeServers> gpu_types) {
  GpuSpeedTables tables;
  for (const Profile& profile : profiles) {
    const auto [type, is_new] = tables.types.try_emplace(profile.model);
    if (!is_new) throw UserError("graphs.models: \"" + profile.model + "\" is there twice");
    const auto graph = std::make_shared<const JobGraph>(profile);
    if (partitioned_bytes(*graph, config.largest, config.op_quantum) > kMostBytesOfJob) {
      throw UserError("graphs.largest: \"" + profile.model + "\" takes more than 1 GiB cut for " +
                      std::to_string(config.largest) + " GPUs (graphs.op_quantum bounds it, too)");
    }
    for (int workers = 1; workers <= config.largest; workers += workers == 1 ? 1 : 2) {
      const auto speed = speed_on(graph, workers, config);
      if (!speed) continue;
      for (const GpuTypeServers& gpus : gpu_types) {
        type->second.speeds[gpus.type][workers] = *speed;
      }
    }
    if (type->second.speeds.empty()) {
      throw UserError("graphs.gpu_memory_bytes: \"" + profile.model + "\" has no room on up to " +
                      std::to_string(config.largest) + " GPUs");
    }
  }
  return tables;
}

}  // namespace pacml::env
