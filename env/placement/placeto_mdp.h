#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "env/placement/group_graph.h"

// What the published agent sees and gets, exact (arXiv:1906.08879, and its released code;
// docs/placement.md). Nodes are groups in the order in which an episode visits them. Pure.

namespace pacml::env {

// A state of an episode.
struct PlacetoState {
  std::span<const GroupAttributes> attributes;  // [nodes]
  std::span<const double> start_us;             // [nodes], of the leader in the last simulation
  std::span<const std::int32_t> device;         // [nodes], the one to be moved included
  std::span<const int> visits;                  // [nodes], how often each has been placed
  std::size_t current = 0;
  std::size_t num_devices = 0;
  bool with_memory = false;
  bool signed_scale = true;  // as published; false: columns are scaled by their largest magnitude
};

// cost, bytes out, visits, is it the current one, start relative to the current one's, (memory,)
// its device as ones and zeroes.
[[nodiscard]] constexpr std::size_t placeto_width(std::size_t num_devices, bool with_memory) {
  return 5 + (with_memory ? 1 : 0) + num_devices;
}
// Row-major [nodes, placeto_width]. Cost, bytes, start and memory are divided by the largest value
// of their column, whatever its sign, unless that is 0: where no node starts after the current one,
// starts stay microseconds, unless `signed_scale` says otherwise. All arithmetic is in float32.
[[nodiscard]] std::vector<float> placeto_features(const PlacetoState& state);

// Of the nodes that are neither above nor below, `most` whose starts are nearest to the current
// one's; of equals, the earlier. 0: all. As 0 and 1, [nodes].
[[nodiscard]] std::vector<int> nearest_parallel(const std::vector<int>& parallel,
                                                std::span<const double> start_us,
                                                std::size_t current, int most);

// What each step of an episode is worth; R_0 .. R_T are the runtimes of its placements.
//   improvement   G_i = R_i - R_{i+1} + discount * G_{i+1}
//   best_later    G_i = R_i - min(R_{i+1} .. R_T)
//   terminal      G_i = -R_T
// UserError: another kind.
[[nodiscard]] std::vector<double> placeto_returns(std::string_view kind,
                                                  std::span<const double> runtimes,
                                                  double discount);

}  // namespace pacml::env
