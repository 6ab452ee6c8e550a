#pragma once

#include <algorithm>
#include <cstddef>

#include "env/environment.h"

namespace pacml::apps {

// Of the graphs that a task shows: what a row of its observations may have of features of nodes.
[[nodiscard]] inline std::size_t most_nodes(const env::EnvironmentSpec& spec) {
  int most = 0;
  for (const auto& graph : spec.graphs) most = std::max(most, graph->num_nodes);
  return static_cast<std::size_t>(most);
}

}  // namespace pacml::apps
