#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "env/placement/placement_heuristics.h"
#include "env/placement/placement_problem.h"

// Searches for good placements by simulating many. Deterministic.

namespace pacml::env {

struct FoundPlacement {
  GroupPlacement device_of_group;
  double runtime_s = 0;
  // Whenever a better one was found: after how many simulations of this search.
  struct Improvement {
    std::int64_t simulations = 0;
    double runtime_s = 0;
  };
  std::vector<Improvement> improvements;
};

// Of a group on each device (PlacementEvaluator::runtimes_if_moved), the device where the whole
// runs fastest; of equals, the one that it is on, then the lowest. Pure.
[[nodiscard]] std::int32_t best_device(std::span<const double> runtimes, std::int32_t current);

// Visits groups in topological order and moves each to its best device, all others being where they
// are. `passes` times, or until a pass moves nothing. (devices - 1) simulations a group and pass.
[[nodiscard]] FoundPlacement descend(PlacementEvaluator& evaluator, const GroupPlacement& start,
                                     int passes);

// One random move of one group a simulation, kept if it is no slower, or by chance: the less, the
// slower it is and the later. The temperature falls from 5 % to 0.01 % of the first runtime
// (Kirkpatrick et al., Science 1983). One simulation more, of `start`.
[[nodiscard]] FoundPlacement anneal(PlacementEvaluator& evaluator, const GroupPlacement& start,
                                    std::int64_t simulations, std::uint64_t seed);

// What at most so many simulations, that of `start` included, make of a placement that is good:
// annealing that begins cold and moves mostly groups of the binding chain (binding_chain.h), often
// with others beside them. Never worse than `start`. Pre: simulations >= 1 (PACML_CHECK).
[[nodiscard]] FoundPlacement improve(PlacementEvaluator& evaluator, const GroupPlacement& start,
                                     std::int64_t simulations, std::uint64_t seed);

// The best of all placements, of equals the first counted; nothing where there are more than
// `most`.
[[nodiscard]] std::optional<FoundPlacement> enumerate(PlacementEvaluator& evaluator,
                                                      std::int64_t most);

}  // namespace pacml::env
