#include "env/placement/placing_rest.h"

#include <algorithm>

#include "common/index.h"

namespace pacml::env {

std::span<const double> PlacingRest::runtimes(PlacementEvaluator& evaluator,
                                              const PlacingSchedule& placed, std::size_t group,
                                              std::span<const std::int32_t> rest,
                                              std::span<const std::int32_t> device_of_group) {
  runtimes_.clear();
  whole_.assign(device_of_group.begin(), device_of_group.end());
  for (std::size_t d = 0; d < evaluator.problem().num_devices(); ++d) {
    schedule_ = placed;
    schedule_->place(group, d);
    whole_[group] = static_cast<std::int32_t>(d);
    place(rest);
    runtimes_.push_back(evaluator.runtime_s(whole_));
  }
  return runtimes_;
}

void PlacingRest::place(std::span<const std::int32_t> rest) {
  PlacingSchedule& schedule = *schedule_;
  for (const std::int32_t group : rest) {
    std::size_t best = 0;
    double ends = schedule.slot(at(group), 0).finish_us;
    for (std::size_t d = 1; d < schedule.num_devices(); ++d) {
      const double finish = schedule.slot(at(group), d).finish_us;
      if (finish >= ends) continue;
      ends = finish;
      best = d;
    }
    schedule.place(at(group), best);
    whole_[at(group)] = static_cast<std::int32_t>(best);
  }
}

GroupPlacement place_by_pilot(PlacementEvaluator& evaluator) {
  const PlacementProblem& problem = evaluator.problem();
  const auto order = fifo_topological_order(problem.groups->children());
  PlacingSchedule placed(problem);
  PlacingRest rest;
  GroupPlacement device_of_group(problem.num_groups(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto runtimes = rest.runtimes(evaluator, placed, at(order[i]),
                                        std::span(order).subspan(i + 1), device_of_group);
    const auto best = std::ranges::min_element(runtimes) - runtimes.begin();
    placed.place(at(order[i]), static_cast<std::size_t>(best));
    device_of_group[at(order[i])] = static_cast<std::int32_t>(best);
  }
  return device_of_group;
}

}  // namespace pacml::env
