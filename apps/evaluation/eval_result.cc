#include "apps/evaluation/eval_result.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "env/numerics.h"

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

namespace {

// Of the policies that `counts` is true of; null: of none.
template <class Counts>
const PolicyResult* best_where(const EvalResult& result, Counts counts) {
  const PolicyResult* best = nullptr;
  double value = 0;
  for (const PolicyResult& policy : result.policies) {
    if (!counts(policy)) continue;
    const double other = mean_interval(policy, 0).mean;
    if (best == nullptr || std::isnan(value) || result.metrics.front().is_better(other, value)) {
      best = &policy;
      value = other;
    }
  }
  return best;
}

}  // namespace

const PolicyResult& best_of(const EvalResult& result) {
  return *best_where(result, [](const PolicyResult&) { return true; });
}

const PolicyResult* best_untrained(const EvalResult& result) {
  return best_where(result, [](const PolicyResult& policy) { return !policy.learned; });
}

std::vector<Method> methods_of(const EvalResult& result) {
  std::vector<Method> methods;
  for (const PolicyResult& policy : result.policies) {
    if (policy.method.empty()) continue;
    auto found = std::ranges::find(methods, policy.method, &Method::name);
    if (found == methods.end()) found = methods.insert(found, Method{policy.method, {}});
    found->trainings.push_back(&policy);
  }
  return methods;
}

Spread spread_of(const Method& method) {
  std::vector<double> means;
  for (const PolicyResult* training : method.trainings) {
    const double mean = mean_interval(*training, 0).mean;
    if (!std::isnan(mean)) means.push_back(mean);
  }
  constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  if (means.empty()) return {{kUndefined, kUndefined}, kUndefined, kUndefined, kUndefined};
  const auto [least, most] = std::ranges::minmax(means);
  return {mean_interval(means), env::median(means), least, most};
}

PairedDifference paired_difference(const Method& method, const PolicyResult& other) {
  std::vector<double> differences;
  std::vector<double> of_other;
  std::int64_t episodes = 0;
  for (const PolicyResult* training : method.trainings) {
    const PairedDifference one = paired_difference(*training, other);
    if (one.episodes == 0) continue;
    differences.push_back(one.difference.mean);
    of_other.push_back(one.mean_of_b);
    episodes = std::max(episodes, one.episodes);
  }
  return {mean_interval(differences), episodes, mean_interval(of_other).mean};
}

}  // namespace pacml::apps
