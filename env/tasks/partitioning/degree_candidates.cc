#include "env/tasks/partitioning/degree_candidates.h"

#include <algorithm>

namespace pacml::env {

void write_degree_candidates(const ClusterSight& cluster, std::span<const std::uint8_t> allowed,
                             std::span<std::uint8_t> mask, std::vector<std::uint32_t>& placements) {
  placements.clear();
  mask[0] = 1;
  for (std::size_t a = 1; a < allowed.size(); ++a) {
    mask[a] = 0;
    if (allowed[a] == 0) continue;
    const auto outlook = cluster.outlook({.degree = static_cast<int>(a)});
    if (outlook.cause != BlockCause::kNone) continue;
    if (std::ranges::find(placements, outlook.placement) != placements.end()) continue;
    placements.push_back(outlook.placement);
    mask[a] = 1;
  }
}

}  // namespace pacml::env
