#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "common/rng.h"

// What float32 arithmetic may make of a calculation, from the calculation itself (Monte Carlo
// arithmetic, Parker 1997): it is done once in double precision, and then several times with every
// sum and product off by up to half a float32's last place, at random. How far the results scatter
// says what rounding does to each of them, through all the lengths of sums and cancellations on its
// way, whatever the order in which a library adds up.
namespace pacml {

// Rounds what a calculation hands it, or leaves it as it is.
class Rounding {
 public:
  Rounding() = default;  // exact: double precision
  explicit Rounding(Seed seed) : rng_(seed), rounds_(true) {}

  double operator()(double x) {
    constexpr double kHalfUlp = 0x1p-24;
    return rounds_ ? x * (1 + kHalfUlp * (2 * rng_.uniform() - 1)) : x;
  }

 private:
  Rng rng_{Seed{0}};
  bool rounds_ = false;
};

struct Expected {
  std::vector<double> values;
  std::vector<double> tolerances;  // of each value
};

// `calculate(Rounding&)` gives a vector of doubles; always of one size. `runs`: fewer will do for
// who takes the greatest of many tolerances.
template <class Calculate>
Expected expected_within_rounding(Calculate calculate, std::uint64_t runs = 16) {
  // A library may sum up in a less fortunate order than ours, and 16 draws are few.
  constexpr double kMargin = 8;
  Rounding exact;
  Expected out{calculate(exact), {}};
  // Below this a float32 has fewer digits, and at last none.
  constexpr double kLeastNormal = std::numeric_limits<float>::min();
  out.tolerances.assign(out.values.size(), kLeastNormal);
  for (std::uint64_t run = 0; run < runs; ++run) {
    Rounding rounding(Seed{run});
    const std::vector<double> rounded = calculate(rounding);
    for (std::size_t i = 0; i < rounded.size(); ++i) {
      out.tolerances[i] =
          std::max(out.tolerances[i], kMargin * std::abs(rounded[i] - out.values[i]));
    }
  }
  return out;
}

// The greatest error, in units of its tolerance: at most 1 where all is well. Infinite for what is
// no number, and where sizes differ.
inline double worst_error(std::span<const float> actual, const Expected& expected) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (actual.size() != expected.values.size()) return kInfinite;
  double worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(static_cast<double>(actual[i]) - expected.values[i]);
    const double ratio = error / expected.tolerances[i];
    worst = std::isnan(ratio) ? kInfinite : std::max(worst, ratio);
  }
  return worst;
}

}  // namespace pacml
