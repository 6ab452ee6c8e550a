#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "env/placement/placement_heuristics.h"
#include "env/placement/placing_schedule.h"

namespace pacml::env {

// Places what is left as a list schedule would: group by group, each on the device where it would
// end first, the first of those that are alike. Keeps its memory. Thread-confined.
class PlacingRest {
 public:
  // `schedule`: with what has been placed; it stays as it is. Sets the devices of `rest`, in this
  // order, among those of all groups. O(groups * devices + rest * devices * parents). Pre: none of
  // `rest` is placed in the schedule.
  void place(const PlacingSchedule& schedule, std::span<const std::int32_t> rest,
             std::span<std::int32_t> device_of_group);

 private:
  std::optional<PlacingSchedule> scratch_;
};

// The pilot method (Duin and Voss 1999) over that: group by group, in topological order, each where
// the whole runs fastest with the rest placed behind it; of equals the first device.
// groups * devices simulations.
[[nodiscard]] GroupPlacement place_by_pilot(PlacementEvaluator& evaluator);

}  // namespace pacml::env
