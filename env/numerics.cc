#include "env/numerics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/check.h"

namespace pacml::env {

double pairwise_sum(std::span<const double> values) {
  const std::size_t n = values.size();
  if (n < 8) {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum;
  }
  if (n <= 128) {
    std::array<double, 8> r{};
    std::copy_n(values.begin(), 8, r.begin());
    const std::size_t whole = n - n % 8;
    for (std::size_t i = 8; i < whole; ++i) r[i % 8] += values[i];
    double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (const double v : values.subspan(whole)) sum += v;
    return sum;
  }
  std::size_t half = n / 2;
  half -= half % 8;
  return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
}

double pairwise_mean(std::span<const double> values) {
  return values.empty() ? 0.0 : pairwise_sum(values) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  PACML_CHECK(!values.empty(), "a median needs values");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double below = *std::max_element(values.begin(), middle);
  const std::array<double, 2> both = {below, *middle};
  return pairwise_mean(both);
}

double nearest_rank(std::span<double> values, double p) {
  PACML_CHECK(!values.empty() && p >= 0 && p <= 1, "a quantile needs values and a share");
  const double rank = std::ceil(p * static_cast<double>(values.size())) - 1;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max(0.0, rank));
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace pacml::env
