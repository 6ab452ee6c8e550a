#include "env/tasks/ramp/recent_arrivals.h"

#include <algorithm>
#include <cmath>

namespace pacml::env {

void RecentArrivals::add(double fraction, double arrived) {
  if (!kept()) return;
  const auto towards = [&](double& mean, double value, int count) {
    mean += (value - mean) / std::min(count, memory_);
  };
  if (jobs_ > 0) towards(gap_, arrived - last_arrived_, jobs_);
  last_arrived_ = arrived;
  ++jobs_;
  fraction = std::min(fraction, 1.0);
  towards(fraction_, fraction, jobs_);
  towards(square_, fraction * fraction, jobs_);
}

double RecentArrivals::spread_of_fractions() const {
  return std::sqrt(std::max(0.0, square_ - fraction_ * fraction_));
}

}  // namespace pacml::env
