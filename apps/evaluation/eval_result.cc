#include "apps/evaluation/eval_result.h"

#include <algorithm>
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

MeanInterval mean_interval(const PolicyResult& policy, std::size_t metric) {
  std::vector<double> values;
  for (const SeedResult& seed : policy.seeds) values.push_back(seed.episode.metrics[metric]);
  return mean_interval(values);
}

PairedDifference paired_difference(const PolicyResult& a, const PolicyResult& b) {
  std::vector<double> differences;
  std::vector<double> of_b;
  for (std::size_t i = 0; i < std::min(a.seeds.size(), b.seeds.size()); ++i) {
    const double ours = a.seeds[i].episode.metrics[0];
    const double theirs = b.seeds[i].episode.metrics[0];
    if (std::isnan(ours) || std::isnan(theirs)) continue;
    differences.push_back(ours - theirs);
    of_b.push_back(theirs);
  }
  return {mean_interval(differences), static_cast<std::int64_t>(of_b.size()),
          mean_interval(of_b).mean};
}

const PolicyResult& best_of(const EvalResult& result) {
  const PolicyResult* best = &result.policies.front();
  double value = mean_interval(*best, 0).mean;
  for (const PolicyResult& policy : result.policies) {
    const double other = mean_interval(policy, 0).mean;
    if (std::isnan(value) || result.metrics.front().is_better(other, value)) {
      best = &policy;
      value = other;
    }
  }
  return *best;
}

}  // namespace pacml::apps
