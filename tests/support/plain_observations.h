#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/experience/observations.h"

// Observations of one graph, some numbers and some actions, for tests that need no more.

namespace pacml {

inline ObservationSpec plain_spec(std::uint32_t globals, std::uint32_t actions,
                                  std::uint32_t node_width = 1, std::uint32_t edge_width = 1) {
  ObservationSpec spec;
  spec.slots = {{.name = "graph", .node_width = node_width, .edge_width = edge_width}};
  for (std::uint32_t g = 0; g < globals; ++g) {
    spec.globals.push_back({"global_" + std::to_string(g), "1"});
  }
  spec.candidates.most = actions;
  return spec;
}

// One row of a plain shape, added to a store.
inline void append_plain(Observations& out, std::size_t graph, std::span<const float> globals,
                         std::span<const std::uint8_t> mask) {
  const ObservationRow row = out.append();
  row.graph[0] = static_cast<std::uint16_t>(graph);
  std::ranges::copy(globals, row.globals.begin());
  std::ranges::copy(mask, row.mask.begin());
}

// Every global becomes value(row, g).
template <class F>
void set_globals(Observations& observations, F value) {
  for (std::size_t b = 0; b < observations.size(); ++b) {
    const ObservationRow row = observations.row(b);
    for (std::size_t g = 0; g < row.globals.size(); ++g) row.globals[g] = value(b, g);
  }
}

}  // namespace pacml
