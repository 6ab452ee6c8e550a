#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace pacml::apps {

// A figure as a trace writes it: numbers that are not finite are the strings "nan", "inf" and
// "-inf". Pure.
inline nlohmann::json number(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return v;
}

}  // namespace pacml::apps
