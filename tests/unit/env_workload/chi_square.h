#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <span>

#include "env/workload/distribution.h"

namespace pacml::env {

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

// True when so many counted values look drawn from `distribution`; a value outside it never does.
inline bool looks_drawn_from(const Distribution& distribution,
                             const std::map<double, double>& counts) {
  double total = 0;
  for (const auto& [value, count] : counts) total += count;
  std::vector<double> observed;
  std::vector<double> expected;
  double found = 0;
  for (std::size_t i = 0; i < distribution.values().size(); ++i) {
    const auto at = counts.find(distribution.values()[i]);
    observed.push_back(at == counts.end() ? 0 : at->second);
    expected.push_back(total * distribution.probabilities()[i]);
    found += observed.back();
  }
  if (found != total) return false;
  if (observed.size() == 1) return true;
  return chi_square(observed, expected) < chi_square_limit(observed.size() - 1);
}

}  // namespace pacml::env
