#include "env/tasks/cluster_scheduling/config.h"

namespace pacml::env {

std::vector<std::string> validate(const ClusterSchedulingConfig& c) {
  std::vector<std::string> problems = workload_problems(c);
  if (!(c.own_share >= 0 && c.own_share <= 1)) problems.emplace_back("own_share: must be in 0..1");
  return problems;
}

ObservationSpec observation_spec(const ClusterSchedulingConfig& c) {
  return scheduling_observation(c.cluster, c.offers);
}

}  // namespace pacml::env
