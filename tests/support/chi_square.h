#pragma once

#include <cmath>
#include <cstddef>
#include <span>

// Whether counts of draws look like a distribution. Pure.
namespace pacml::testing {

// Pearson's statistic of observed counts against expected ones (> 0).
inline double chi_square(std::span<const double> observed, std::span<const double> expected) {
  double sum = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const double off = observed[i] - expected[i];
    sum += off * off / expected[i];
  }
  return sum;
}

// What the statistic exceeds with probability 1e-4 when the counts do follow the distribution
// (Wilson and Hilferty 1931; within 1 % for 1 degree of freedom and better above).
inline double chi_square_limit(std::size_t degrees_of_freedom) {
  const auto df = static_cast<double>(degrees_of_freedom);
  const double spread = 2.0 / (9.0 * df);
  return df * std::pow(1 - spread + 3.719 * std::sqrt(spread), 3);
}

}  // namespace pacml::testing
