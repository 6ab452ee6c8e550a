#include "env/placement/placement_heuristics.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "common/index.h"
#include "env/placement/families.h"

namespace pacml::env {

std::int32_t best_single_device(const PlacementProblem& problem) {
  PlacementEvaluator evaluator(std::make_shared<const PlacementProblem>(problem));
  std::int32_t best = 0;
  double best_runtime = 0;
  bool best_fits = false;
  for (std::size_t d = 0; d < problem.num_devices(); ++d) {
    const auto device = static_cast<std::int32_t>(d);
    const double runtime = evaluator.runtime_s(place_on_one(problem, device));
    const bool fits = evaluator.simulator().peak_bytes()[d] <= problem.limit_bytes(d);
    const bool is_better = fits != best_fits ? fits : runtime < best_runtime;
    if (d == 0 || is_better) {
      best = device;
      best_runtime = runtime;
      best_fits = fits;
    }
  }
  return best;
}

GroupPlacement place_on_one(const PlacementProblem& problem, std::int32_t device) {
  return GroupPlacement(problem.num_groups(), device);
}

GroupPlacement place_by_level(const PlacementProblem& problem) {
  const IndexLists& children = problem.groups->children();
  std::vector<int> level(children.size(), 0);
  for (const std::int32_t v : fifo_topological_order(children)) {
    for (const std::int32_t c : children[at(v)]) {
      level[at(c)] = std::max(level[at(c)], level[at(v)] + 1);
    }
  }
  std::map<int, std::size_t> placed;
  GroupPlacement device(children.size());
  for (std::size_t v = 0; v < device.size(); ++v) {
    device[v] = static_cast<std::int32_t>(placed[level[v]]++ % problem.num_devices());
  }
  return device;
}

GroupPlacement place_contiguously(const PlacementProblem& problem) {
  const auto attributes = problem.groups->attributes();
  double total = 0;
  for (const GroupAttributes& group : attributes) total += group.cost_us;
  GroupPlacement device(attributes.size(), 0);
  if (total == 0) return device;
  const auto num_devices = static_cast<double>(problem.num_devices());
  double done = 0;
  for (const std::int32_t v : fifo_topological_order(problem.groups->children())) {
    const double cost = attributes[at(v)].cost_us;
    device[at(v)] = static_cast<std::int32_t>(
        std::min(num_devices - 1, (done + cost / 2) * num_devices / total));
    done += cost;
  }
  return device;
}

std::vector<GroupPlacement> random_placements(const PlacementProblem& problem, int count,
                                              std::uint64_t seed) {
  SplitMix draws(seed);
  std::vector<GroupPlacement> placements(static_cast<std::size_t>(count));
  for (GroupPlacement& placement : placements) {
    placement.resize(problem.num_groups());
    for (std::int32_t& device : placement) {
      device = static_cast<std::int32_t>(draws.below(problem.num_devices()));
    }
  }
  return placements;
}

}  // namespace pacml::env
