#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace pacml::env {

inline constexpr double kEndOfTime = std::numeric_limits<double>::infinity();  // a time

// Sums and means whose rounding is numpy's, because the published simulator's figures are compared
// to the last bit. Fewer than 8 terms: left to right. Up to 128: eight interleaved accumulators,
// then the tail. More: halves, split at a multiple of 8. Pure.
[[nodiscard]] double pairwise_sum(std::span<const double> values);

// pairwise_sum / n; 0 for no values.
[[nodiscard]] double pairwise_mean(std::span<const double> values);

// Middle value, or the mean of the two middle ones. Pre: not empty.
[[nodiscard]] double median(std::vector<double> values);

// The quantile by nearest rank: the least value that a share `p` of all do not exceed; the least of
// all for 0. Changes their order. Pre: not empty, p in [0, 1].
[[nodiscard]] double nearest_rank(std::span<double> values, double p);

}  // namespace pacml::env
