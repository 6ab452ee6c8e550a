#pragma once

#include <cstddef>
#include <vector>

namespace pacml::env {

// When a device has nothing to do, as an estimated schedule fills it: from 0 to infinity, less what
// has been taken. Times are not negative, of one unit. An end is the begin plus the length as a
// double rounds it, and fits into a gap that ends no sooner. n takings: O(sqrt n) for each call.
// Value type.
class IdleGaps {
 public:
  IdleGaps();

  // The first begin, not before `from`, of something of that length.
  [[nodiscard]] double first_fit(double from, double length) const;
  // Pre: begin is first_fit(from, length) of some `from`, and end = begin + length.
  void take(double begin, double end);
  // When all that has been taken is over.
  [[nodiscard]] double last_end() const { return runs_.back().gaps.back().begin; }

 private:
  // Between any two neighbours that have been taken, also where one follows the other at once: what
  // is shorter than the rounding fits there.
  struct Gap {
    double begin = 0;
    double end = 0;
    double longest = 0;  // length that fits from its begin on
  };
  // Gaps in order, at least one.
  struct Run {
    std::vector<Gap> gaps;
    double longest = 0;  // of all of them
  };
  struct Place {
    std::size_t run = 0;
    std::size_t gap = 0;
  };

  [[nodiscard]] static Gap gap(double begin, double end);
  static void find_longest(Run& run);
  // The last gap that begins at `time` or before.
  [[nodiscard]] Place last_begun(double time) const;

  std::vector<Run> runs_;  // in order
};

}  // namespace pacml::env
