#pragma once

#include <cmath>

namespace pacml::learner {

// What is left after so much time of what shrinks to this share in one unit of it.
[[nodiscard]] inline double over_time(double share, float elapsed) {
  return elapsed == 1 ? share : std::pow(share, double{elapsed});  // mostly, it is 1
}

}  // namespace pacml::learner
