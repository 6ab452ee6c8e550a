#include "env/tasks/partitioning/degree_candidates.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pacml::env {

void write_degree_candidates(const Cluster& cluster, std::span<const std::uint8_t> allowed,
                             std::span<std::uint8_t> mask) {
  std::vector<ExecutionPtr> seen;
  mask[0] = 1;
  for (std::size_t a = 1; a < allowed.size(); ++a) {
    mask[a] = 0;
    if (allowed[a] == 0) continue;
    Cluster::Forecast outcome = cluster.forecast({.degree = static_cast<int>(a)});
    if (outcome.cause != BlockCause::kNone) continue;
    if (std::ranges::find(seen, outcome.execution) != seen.end()) continue;
    seen.push_back(std::move(outcome.execution));
    mask[a] = 1;
  }
}

}  // namespace pacml::env
