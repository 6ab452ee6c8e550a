#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "env/workload/distribution.h"
#include "tests/support/chi_square.h"

namespace pacml::env {

using testing::chi_square;
using testing::chi_square_limit;

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
