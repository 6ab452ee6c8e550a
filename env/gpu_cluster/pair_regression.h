#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

// Regression on ordered pairs of things: z(a, b) = x_a' W x_b, of which only
//
//   alike(s, t) = x_s' x_t                                             [things, things]
//
// has to be given, so that x may be as wide as it likes: W is a sum over the pairs that were seen
// of x_a x_b', and the regression is solved for its weights. A step costs things^3, whatever the
// number of pairs. Pure functions.

namespace pacml::env {

using ThingPair = std::pair<std::size_t, std::size_t>;

// The z [things, things] of the W that minimises the sum of (z - target)^2 and ridge |W|^2.
// Pre: a target for each pair; pairs are of things; ridge > 0.
[[nodiscard]] std::vector<double> ridge_of_pairs(std::span<const double> alike, std::size_t things,
                                                 std::span<const ThingPair> pairs,
                                                 std::span<const double> targets, double ridge);

// ... and of the W under which exp(z) are the odds of what was seen: that minimises the sum of the
// logistic losses and ridge |W|^2 / 2, by Newton's method. Pre: as above; seen holds 0 or 1.
[[nodiscard]] std::vector<double> logistic_of_pairs(std::span<const double> alike,
                                                    std::size_t things,
                                                    std::span<const ThingPair> pairs,
                                                    std::span<const double> seen, double ridge);

}  // namespace pacml::env
