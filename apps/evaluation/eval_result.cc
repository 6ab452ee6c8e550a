#include "apps/evaluation/eval_result.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

namespace pacml::apps {

MeanInterval mean_interval(std::span<const double> values) {
  constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  int count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  if (count == 0) return {kUndefined, kUndefined};
  const double mean = sum / count;
  if (count == 1) return {mean, kUndefined};
  double squares = 0;
  for (const double value : values) {
    if (!std::isnan(value)) squares += (value - mean) * (value - mean);
  }
  const double deviation = std::sqrt(squares / (count - 1));
  const double t = boost::math::quantile(boost::math::students_t(count - 1), 0.975);
  return {mean, t * deviation / std::sqrt(count)};
}

MeanInterval mean_interval(const PolicyResult& policy, double SeedResult::*figure) {
  std::vector<double> values;
  for (const SeedResult& seed : policy.seeds) values.push_back(seed.*figure);
  return mean_interval(values);
}

double share_blocked_by(const PolicyResult& policy, const std::string& cause) {
  std::int64_t arrived = 0;
  std::int64_t blocked = 0;
  for (const SeedResult& seed : policy.seeds) {
    arrived += seed.arrived;
    const auto found = seed.blocked_by_cause.find(cause);
    if (found != seed.blocked_by_cause.end()) blocked += found->second;
  }
  return arrived == 0 ? 0.0 : static_cast<double>(blocked) / static_cast<double>(arrived);
}

}  // namespace pacml::apps
