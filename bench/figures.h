#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pacml::bench {

// Named figures in the order in which they were measured; a name ends in _seconds, _per_second or
// another unit.
using Figures = std::vector<std::pair<std::string, double>>;

// The figure of that name; nullopt: there is none. Pure.
[[nodiscard]] std::optional<double> find_figure(const Figures& figures, std::string_view name);

// Middle value (of an even number: the upper one). Pre: not empty.
[[nodiscard]] double median_of(std::vector<double> values);

}  // namespace pacml::bench
