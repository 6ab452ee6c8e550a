#include "env/tasks/partitioning/config.h"

#include "env/tasks/partitioning/paper_observation.h"

namespace pacml::env {

std::optional<ServersShown> servers_shown(const PartitioningConfig& c) {
  switch (c.observation) {
    case ObservationKind::kPaper:
      return std::nullopt;
    case ObservationKind::kCluster:
      return ServersShown::kEach;
    case ObservationKind::kAnyCluster:
      return ServersShown::kTogether;
  }
  return std::nullopt;
}

ObservationSpec observation_spec(const PartitioningConfig& c) {
  ObservationSpec spec;
  spec.slots = {{.name = "job", .node_width = 5, .edge_width = 2}};
  spec.candidates.most = static_cast<std::uint32_t>(c.max_partitions_per_op + 1);
  if (const auto shown = servers_shown(c)) {
    spec.slots.push_back(servers_slot(*shown, topologies(c)));
    spec.globals = cluster_globals(c.recent_arrivals > 0);
    spec.candidates.derived = true;
  } else {
    spec.globals = paper_globals();
  }
  return spec;
}

std::vector<std::string> validate(const PartitioningConfig& c) {
  auto problems = validate_ramp(c);
  const std::string observation = "observation: " + std::string(pacml::name_of(c.observation));
  if (servers_shown(c) && validate(c.ramp).empty()) {
    for (const auto& topology : topologies(c)) {
      // What cannot be at all has been said.
      if (!validate(ramp_of(c, topology)).empty() || num_servers(topology) <= kMostServersShown)
        continue;
      problems.push_back(observation + " describes at most " + std::to_string(kMostServersShown) +
                         " servers, and " +
                         (topology == c.ramp.topology ? "ramp.topology" : "further_topologies") +
                         " has " + std::to_string(num_servers(topology)));
    }
  }
  if (c.observation == ObservationKind::kCluster && !c.further_topologies.empty()) {
    problems.emplace_back(
        "observation: cluster describes the servers of one topology one by one; with "
        "further_topologies set it to any_cluster");
  }
  if (servers_shown(c) && c.cluster.lookahead_cache == LookaheadCache::kModelDegree) {
    problems.push_back(
        observation +
        " shows how long a job would run where it would be placed, which with "
        "cluster.lookahead_cache: model_degree depends on the episode's past; set it to placement");
  }
  if (!servers_shown(c) && c.recent_arrivals > 0) {
    problems.emplace_back(
        "recent_arrivals: observation: paper shows nothing of them; set it to cluster, or them to "
        "0");
  }
  return problems;
}

}  // namespace pacml::env
