#pragma once

#include <cstdint>
#include <optional>

#include "env/placement/placement_heuristics.h"
#include "env/placement/placement_problem.h"

namespace pacml::env {

// Classical list scheduling: operations one after another, each on the device that suits it best
// in a schedule that is estimated, which settles where its group goes. Where memory over a limit
// costs time, what a device would not hold goes elsewhere, or to the emptiest.
enum class ListRule {
  // By upward rank, the longest way to the end with mean transfers; where it ends first, idle gaps
  // included, on links without contention (Topcuoglu et al., IEEE TPDS 2002).
  kHeft,
  // The pair of a ready operation and a device that can start first, among equals the higher
  // upward rank; each channel carries one transfer after another (Hwang et al., SIAM J. Comput.
  // 1989).
  kEtf,
};
// Pure.
[[nodiscard]] GroupPlacement list_schedule(const PlacementProblem& problem, ListRule rule);
// The same; absent: it would look more than `most_looks` times at when an operation could begin on
// a device, or at when one of its inputs would be there. ETF looks at all that are ready at each
// step, unless one can start as soon as any device is free. Pure.
[[nodiscard]] std::optional<GroupPlacement> list_schedule_within(const PlacementProblem& problem,
                                                                 ListRule rule,
                                                                 std::int64_t most_looks);
// The better of both; two simulations.
[[nodiscard]] GroupPlacement better_list_schedule(PlacementEvaluator& evaluator);

}  // namespace pacml::env
