#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "common/check.h"
#include "model/layout.h"
#include "model/parameters.h"

// Internal to the reference policies: layers in double precision, as plain as can be.
namespace pacml::model {

// W x + b of the layer NAME.
[[nodiscard]] inline std::vector<double> reference_linear(const Parameters& parameters,
                                                          const ParameterLayout& layout,
                                                          const std::string& name,
                                                          const std::vector<double>& x) {
  const auto w = view(parameters, layout, name + ".weight");
  const auto b = view(parameters, layout, name + ".bias");
  PACML_CHECK(w.size() == b.size() * x.size(), "an input of another width");
  std::vector<double> y(b.begin(), b.end());
  for (std::size_t o = 0; o < y.size(); ++o) {
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += double{w[o * x.size() + i]} * x[i];
  }
  return y;
}

[[nodiscard]] inline std::vector<double> rectified(std::vector<double> x) {
  for (double& value : x) value = std::max(value, 0.0);
  return x;
}

}  // namespace pacml::model
