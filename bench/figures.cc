#include "bench/figures.h"

#include <algorithm>
#include <cstddef>

#include "common/check.h"

namespace pacml::bench {

std::optional<double> find_figure(const Figures& figures, std::string_view name) {
  const auto found = std::ranges::find(figures, name, &Figures::value_type::first);
  return found != figures.end() ? std::optional(found->second) : std::nullopt;
}

double median_of(std::vector<double> values) {
  PACML_CHECK(!values.empty(), "a median needs values");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace pacml::bench
