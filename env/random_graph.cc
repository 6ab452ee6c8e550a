#include "env/random_graph.h"

#include <cstddef>
#include <cstdint>

namespace pacml::env {

GraphFeaturesPtr random_graph(Rng& rng, int node_width, int edge_width, int nodes, int edges) {
  auto graph = std::make_shared<GraphFeatures>();
  graph->num_nodes = nodes;
  graph->num_edges = edges;
  graph->node_width = node_width;
  graph->edge_width = edge_width;
  graph->node_features.resize(static_cast<std::size_t>(nodes) *
                              static_cast<std::size_t>(node_width));
  graph->edge_features.resize(static_cast<std::size_t>(edges) *
                              static_cast<std::size_t>(edge_width));
  for (float& x : graph->node_features) x = static_cast<float>(rng.uniform());
  for (float& x : graph->edge_features) x = static_cast<float>(rng.uniform());
  const auto draw_node = [&] {
    return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(nodes)));
  };
  for (int e = 0; e < edges; ++e) {
    graph->edge_src.push_back(draw_node());
    graph->edge_dst.push_back(draw_node());
  }
  graph->hash = hash_features(*graph);
  return graph;
}

}  // namespace pacml::env
