#include "env/graph_message.h"

namespace pacml::env {

wire::Graph to_message(const GraphFeatures& graph) {
  wire::Graph message;
  message.hash = graph.hash;
  message.num_nodes = static_cast<std::uint32_t>(graph.num_nodes);
  message.num_edges = static_cast<std::uint32_t>(graph.num_edges);
  message.node_width = static_cast<std::uint32_t>(graph.node_width);
  message.edge_width = static_cast<std::uint32_t>(graph.edge_width);
  message.node_features = graph.node_features;
  message.edge_features = graph.edge_features;
  message.edge_src = graph.edge_src;
  message.edge_dst = graph.edge_dst;
  return message;
}

GraphFeaturesPtr from_message(const wire::Graph& message) {
  auto graph = std::make_shared<GraphFeatures>();
  graph->num_nodes = static_cast<int>(message.num_nodes);
  graph->num_edges = static_cast<int>(message.num_edges);
  graph->node_width = static_cast<int>(message.node_width);
  graph->edge_width = static_cast<int>(message.edge_width);
  graph->node_features = message.node_features;
  graph->edge_features = message.edge_features;
  graph->edge_src = message.edge_src;
  graph->edge_dst = message.edge_dst;
  graph->hash = hash_features(*graph);
  return graph;
}

}  // namespace pacml::env
