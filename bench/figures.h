#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pacml::bench {

// Named figures in the order in which they were measured; a name ends in _seconds, _per_second or
// another unit.
using Figures = std::vector<std::pair<std::string, double>>;

// Middle value (of an even number: the upper one). Pre: not empty.
[[nodiscard]] double median_of(std::vector<double> values);

}  // namespace pacml::bench
