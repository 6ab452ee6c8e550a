#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "env/graph_features.h"
#include "model/network_config.h"
#include "model/parameters.h"
#include "model/policy.h"
#include "model/reference_policy.h"
#include "tests/support/rounded_network.h"
#include "tests/support/rounding.h"

// For policies that compute in float32: what they would say in double precision, and how far from
// it they may be.
namespace pacml::model {

struct ExactOutput {
  PolicyOutput said;     // by make_reference_policy()
  double tolerance = 0;  // of every logit and value
};

// What rounding may make of the valid logits and the value of row b; `runs`: as
// expected_within_rounding().
inline Expected expected_row(const NetworkShape& shape, const Parameters& parameters,
                             const std::vector<env::GraphFeaturesPtr>& graphs,
                             const Observations& batch, std::size_t b, std::uint64_t runs = 16) {
  return expected_within_rounding(
      [&](Rounding& rounding) {
        RoundedNetwork network(shape, parameters, rounding);
        const auto decision = network.decide_row(batch, b, graphs);
        std::vector<double> out;
        for (std::size_t a = 0; a < batch.mask(b).size(); ++a) {
          if (batch.mask(b)[a] != 0) out.push_back(network.at(decision.logits[a]));
        }
        out.push_back(network.at(decision.value));
        return out;
      },
      runs);
}

// The tolerance is the greatest of any output of two rows, since one may take millions of
// operations, and all are of the same weights. They are those of which most and least is said:
// where nothing gets through a network but its biases, there is little to round. Pre: there are
// rows.
inline ExactOutput exact_output(const NetworkShape& shape, const Parameters& parameters,
                                const std::vector<env::GraphFeaturesPtr>& graphs,
                                const Observations& batch) {
  constexpr std::uint64_t kRuns = 4;
  ExactOutput out;
  const auto policy = make_reference_policy(shape);
  policy->set_graphs(graphs);
  policy->set_parameters(parameters);
  policy->evaluate(batch, out.said);
  const auto actions = static_cast<std::size_t>(shape.actions);
  std::vector<double> sizes;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const auto logits = std::span(out.said.logits).subspan(b * actions, actions);
    double size = std::abs(double{out.said.values[b]});
    for (std::size_t a = 0; a < batch.mask(b).size(); ++a) {
      if (batch.mask(b)[a] != 0) size = std::max(size, std::abs(double{logits[a]}));
    }
    sizes.push_back(size);
  }
  const auto [least, most] = std::ranges::minmax_element(sizes);
  for (const auto b : std::set{least - sizes.begin(), most - sizes.begin()}) {
    const Expected expected =
        expected_row(shape, parameters, graphs, batch, static_cast<std::size_t>(b), kRuns);
    out.tolerance = std::max(out.tolerance, std::ranges::max(expected.tolerances));
  }
  return out;
}

// Infinite for what is no number, and where sizes differ.
inline double largest_difference(std::span<const float> a, std::span<const float> b) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return kInfinite;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(double{a[i]} - double{b[i]});
    if (std::isnan(difference)) return kInfinite;
    largest = std::max(largest, difference);
  }
  return largest;
}
// Of logits and values.
inline double largest_difference(const PolicyOutput& a, const PolicyOutput& b) {
  return std::max(largest_difference(a.logits, b.logits), largest_difference(a.values, b.values));
}

}  // namespace pacml::model
