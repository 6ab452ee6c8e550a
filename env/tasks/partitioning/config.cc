#include "env/tasks/partitioning/config.h"

#include "env/tasks/partitioning/paper_observation.h"
#include "env/tasks/ramp/cluster_view.h"

namespace pacml::env {

ObservationSpec observation_spec(const PartitioningConfig& c) {
  ObservationSpec spec;
  spec.slots = {{.name = "job", .node_width = 5, .edge_width = 2}};
  spec.candidates.most = static_cast<std::uint32_t>(c.max_partitions_per_op + 1);
  if (c.observation == ObservationKind::kPaper) {
    spec.globals = paper_globals();
  } else {
    spec.slots.push_back(servers_slot(c.ramp.topology));
    spec.globals = cluster_globals(c.recent_arrivals > 0);
    spec.candidates.derived = true;
  }
  return spec;
}

std::vector<std::string> validate(const PartitioningConfig& c) {
  auto problems = validate_ramp(c);
  const auto& t = c.ramp.topology;
  if (c.observation == ObservationKind::kCluster && validate(c.ramp).empty() &&
      t[0] * t[1] * t[2] > kMostServersShown) {
    problems.push_back(
        "observation: cluster describes at most " + std::to_string(kMostServersShown) +
        " servers one by one, and ramp.topology has " + std::to_string(t[0] * t[1] * t[2]));
  }
  if (c.observation == ObservationKind::kCluster &&
      c.cluster.lookahead_cache == LookaheadCache::kModelDegree) {
    problems.emplace_back(
        "observation: cluster shows how long a job would run where it would be placed, which with "
        "cluster.lookahead_cache: model_degree depends on the episode's past; set it to placement");
  }
  if (c.observation == ObservationKind::kPaper && c.recent_arrivals > 0) {
    problems.emplace_back(
        "recent_arrivals: observation: paper shows nothing of them; set it to cluster, or them to "
        "0");
  }
  return problems;
}

}  // namespace pacml::env
