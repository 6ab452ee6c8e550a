#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace pacml::apps {

// What came of so many actors, in the unit of what they are there for.
struct LoadYield {
  std::size_t actors = 0;
  std::size_t shards = 0;
  double per_second = 0;  // finite
};

// For each number of shards, in the order of their first points, a line: the fewest actors that
// yield 95 % of the most that was seen with so many shards, since more of them add less than 5 %.
// None where there is one point only, which tells nothing. Pure.
[[nodiscard]] std::string knees_of(std::span<const LoadYield> points);

}  // namespace pacml::apps
