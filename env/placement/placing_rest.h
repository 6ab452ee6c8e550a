#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "env/placement/placement_heuristics.h"
#include "env/placement/placing_schedule.h"

namespace pacml::env {

// What comes of a group where all that is left is placed behind it as a list schedule would: group
// by group, each on the device where it would end first, the first of those that are alike. Keeps
// its memory. Thread-confined.
class PlacingRest {
 public:
  // `placed`: what has been placed before; it stays as it is. Seconds that the whole takes with
  // `group` on each device and `rest` behind it, in this order; all others are where
  // `device_of_group` says. devices simulations, and O(devices * rest * devices * parents). Pre:
  // neither is placed. [devices], borrowed until the next call.
  std::span<const double> runtimes(PlacementEvaluator& evaluator, const PlacingSchedule& placed,
                                   std::size_t group, std::span<const std::int32_t> rest,
                                   std::span<const std::int32_t> device_of_group);

 private:
  void place(std::span<const std::int32_t> rest);

  // Scratch.
  std::optional<PlacingSchedule> schedule_;
  GroupPlacement whole_;
  std::vector<double> runtimes_;
};

// The pilot method (Duin and Voss 1999) over that: group by group, in topological order, each where
// the whole runs fastest with the rest placed behind it; of equals the first device.
// groups * devices simulations.
[[nodiscard]] GroupPlacement place_by_pilot(PlacementEvaluator& evaluator);

}  // namespace pacml::env
