#include "env/placement/placing_rest.h"

#include <cstddef>
#include <limits>

#include "common/index.h"

namespace pacml::env {

void PlacingRest::place(const PlacingSchedule& schedule, std::span<const std::int32_t> rest,
                        std::span<std::int32_t> device_of_group) {
  scratch_ = schedule;
  PlacingSchedule& placed = *scratch_;
  for (const std::int32_t group : rest) {
    std::size_t best = 0;
    double ends = placed.slot(at(group), 0).finish_us;
    for (std::size_t d = 1; d < schedule.num_devices(); ++d) {
      const double finish = placed.slot(at(group), d).finish_us;
      if (finish >= ends) continue;
      ends = finish;
      best = d;
    }
    placed.place(at(group), best);
    device_of_group[at(group)] = static_cast<std::int32_t>(best);
  }
}

GroupPlacement place_by_pilot(PlacementEvaluator& evaluator) {
  const PlacementProblem& problem = evaluator.problem();
  const auto order = fifo_topological_order(problem.groups->children());
  PlacingSchedule placed(problem);
  PlacingRest rest;
  GroupPlacement device_of_group(problem.num_groups(), 0);
  GroupPlacement whole;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::size_t best = 0;
    double fastest = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < problem.num_devices(); ++d) {
      PlacingSchedule there = placed;
      there.place(at(order[i]), d);
      whole = device_of_group;
      whole[at(order[i])] = static_cast<std::int32_t>(d);
      rest.place(there, std::span(order).subspan(i + 1), whole);
      const double runtime = evaluator.runtime_s(whole);
      if (runtime >= fastest) continue;
      fastest = runtime;
      best = d;
    }
    placed.place(at(order[i]), best);
    device_of_group[at(order[i])] = static_cast<std::int32_t>(best);
  }
  return device_of_group;
}

}  // namespace pacml::env
