#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace pacml::model {

// Edge numbers ordered by the node at one end, which `ends` names; edges of one node keep their
// order.
[[nodiscard]] inline std::vector<std::size_t> edge_order(std::span<const std::int32_t> ends) {
  std::vector<std::size_t> order(ends.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t e) { return ends[e]; });
  return order;
}

}  // namespace pacml::model
