#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "common/check.h"
#include "model/layout.h"
#include "model/network_constants.h"
#include "model/parameters.h"

// Internal to the reference policies: layers in double precision, as plain as can be.
namespace pacml::model {

// W x of a layer without a bias.
[[nodiscard]] inline std::vector<double> reference_product(const Parameters& parameters,
                                                           const ParameterLayout& layout,
                                                           const std::string& name,
                                                           const std::vector<double>& x) {
  const auto w = view(parameters, layout, name + ".weight");
  PACML_CHECK(w.size() % x.size() == 0, "an input of another width");
  std::vector<double> y(w.size() / x.size());
  for (std::size_t o = 0; o < y.size(); ++o) {
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += double{w[o * x.size() + i]} * x[i];
  }
  return y;
}

// W x + b of the layer NAME.
[[nodiscard]] inline std::vector<double> reference_linear(const Parameters& parameters,
                                                          const ParameterLayout& layout,
                                                          const std::string& name,
                                                          const std::vector<double>& x) {
  std::vector<double> y = reference_product(parameters, layout, name, x);
  const auto b = view(parameters, layout, name + ".bias");
  PACML_CHECK(y.size() == b.size(), "an input of another width");
  for (std::size_t o = 0; o < y.size(); ++o) y[o] += double{b[o]};
  return y;
}

// Layer normalisation with the weight and bias NAME.
[[nodiscard]] inline std::vector<double> reference_norm(const Parameters& parameters,
                                                        const ParameterLayout& layout,
                                                        const std::string& name,
                                                        const std::vector<double>& x) {
  const auto w = view(parameters, layout, name + ".weight");
  const auto b = view(parameters, layout, name + ".bias");
  const auto n = static_cast<double>(x.size());
  double mean = 0;
  for (const double value : x) mean += value / n;
  double variance = 0;
  for (const double value : x) variance += (value - mean) * (value - mean) / n;
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = (x[i] - mean) / std::sqrt(variance + double{kNormEpsilon}) * double{w[i]} + double{b[i]};
  }
  return y;
}

[[nodiscard]] inline std::vector<double> rectified(std::vector<double> x) {
  for (double& value : x) value = std::max(value, 0.0);
  return x;
}

}  // namespace pacml::model
