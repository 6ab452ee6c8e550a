#include "env/placement/placing_rest.h"

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

}  // namespace pacml::env
