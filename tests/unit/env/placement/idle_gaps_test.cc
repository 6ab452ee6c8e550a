#include "env/placement/idle_gaps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "env/placement/families.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

// The same by going through all that has been taken.
class PlainGaps {
 public:
  [[nodiscard]] double first_fit(double from, double length) const {
    for (const auto& [begin, end] : taken_) {
      if (end <= from) continue;
      if (from + length <= begin) break;
      from = end;
    }
    return from;
  }
  void take(double begin, double end) {
    const std::pair entry{begin, end};
    taken_.insert(std::ranges::upper_bound(taken_, entry), entry);
  }
  [[nodiscard]] const std::vector<std::pair<double, double>>& taken() const { return taken_; }

 private:
  std::vector<std::pair<double, double>> taken_;  // in order
};

double drawn_length(SplitMix& draws) {
  switch (draws.below(5)) {
    case 0:
      return 0;
    case 1:
      return 0.1 * static_cast<double>(draws.below(10));
    case 2:
      return 1e-16 * static_cast<double>(draws.below(10'000));
    default:
      return 3 * draws.unit();
  }
}

// What is between two neighbours, and the lengths next to it.
double length_of_a_gap(const PlainGaps& gaps, SplitMix& draws) {
  const auto& taken = gaps.taken();
  const std::size_t i = draws.below(taken.size() - 1);
  const double length = taken[i + 1].first - taken[i].second;
  const double rounding =
      std::nextafter(taken[i + 1].first, std::numeric_limits<double>::infinity()) -
      taken[i + 1].first;
  switch (draws.below(4)) {
    case 0:
      return length;
    case 1:
      return length + rounding / 2;
    case 2:
      return std::nextafter(length + rounding / 2, 0.0);
    default:
      return std::nextafter(length + rounding / 2, std::numeric_limits<double>::infinity());
  }
}

TEST_CASE("what fits first is what a look at all that has been taken finds", "[unit][placement]") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SplitMix draws(seed);
    IdleGaps gaps;
    PlainGaps plain;
    const double latest = seed % 2 == 0 ? 300 : 3000;  // crowded, and with room left
    for (int i = 0; i < 1500; ++i) {
      const auto fits_alike = [&](double from, double length) {
        const double begin = gaps.first_fit(from, length);
        REQUIRE(begin == plain.first_fit(from, length));
        return begin;
      };
      if (i > 1) {
        const auto& taken = plain.taken();
        const double from = taken[draws.below(taken.size())].second;
        fits_alike(from, length_of_a_gap(plain, draws));
        fits_alike(0, length_of_a_gap(plain, draws));
        fits_alike(from, drawn_length(draws));
      }
      const double length = i % 7 == 6 ? length_of_a_gap(plain, draws) : drawn_length(draws);
      const double begin = fits_alike(latest * draws.unit() * draws.unit(), length);
      gaps.take(begin, begin + length);
      plain.take(begin, begin + length);
      REQUIRE(gaps.last_end() == plain.taken().back().second);
    }
  }
}

TEST_CASE("a gap is as long as what fits into it as rounded", "[unit][placement]") {
  // 1 + 2^-53 is rounded to 1, and one that is longer to more.
  IdleGaps gaps;
  gaps.take(0, 1);
  gaps.take(1, 2);
  CHECK(gaps.first_fit(0.5, 0) == 1);
  CHECK(gaps.first_fit(0.5, 0x1p-53) == 1);
  CHECK(gaps.first_fit(0.5, std::nextafter(0x1p-53, 1.0)) == 2);
}

}  // namespace
}  // namespace pacml::env
