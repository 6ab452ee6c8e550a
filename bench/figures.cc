#include "bench/figures.h"

#include <algorithm>
#include <cstddef>

#include "common/check.h"

namespace pacml::bench {

double median_of(std::vector<double> values) {
  PACML_CHECK(!values.empty(), "a median needs values");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace pacml::bench
