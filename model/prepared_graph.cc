#include "model/prepared_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "common/check.h"
#include "model/edge_order.h"
#include "model/network_constants.h"

namespace pacml::model {
namespace {

// A row less its mean, over its deviation; the norm's weight and bias are the layer's business.
void normalise(std::span<const float> row, float* out) {
  const auto n = static_cast<double>(row.size());
  double mean = 0;
  for (const float x : row) mean += double{x} / n;
  double variance = 0;
  for (const float x : row) variance += (double{x} - mean) * (double{x} - mean) / n;
  const double scale = 1.0 / std::sqrt(variance + double{kNormEpsilon});
  for (std::size_t i = 0; i < row.size(); ++i) {
    out[i] = static_cast<float>((double{row[i]} - mean) * scale);
  }
}

}  // namespace

PreparedGraph::PreparedGraph(const env::GraphFeatures& graph) {
  PACML_CHECK(graph.num_nodes > 0 && graph.num_edges >= 0, "a graph has at least one node");
  PACML_CHECK(graph.node_width > 0 && graph.edge_width > 0, "features have a positive width");
  const auto nodes = static_cast<std::size_t>(graph.num_nodes);
  const auto edges = static_cast<std::size_t>(graph.num_edges);
  const auto node_width = static_cast<std::size_t>(graph.node_width);
  const auto edge_width = static_cast<std::size_t>(graph.edge_width);
  PACML_CHECK(graph.node_features.size() == nodes * node_width, "node features of another length");
  PACML_CHECK(graph.edge_features.size() == edges * edge_width, "edge features of another length");
  PACML_CHECK(graph.edge_src.size() == edges && graph.edge_dst.size() == edges,
              "edge ends of another length");
  const auto is_node = [&](std::int32_t v) { return v >= 0 && v < graph.num_nodes; };
  PACML_CHECK(std::ranges::all_of(graph.edge_src, is_node), "an edge leaves no node");
  PACML_CHECK(std::ranges::all_of(graph.edge_dst, is_node), "an edge enters no node");

  node_inputs_.resize(nodes * padded(node_width));
  for (std::size_t v = 0; v < nodes; ++v) {
    normalise(std::span(graph.node_features).subspan(v * node_width, node_width),
              node_inputs_.data() + v * padded(node_width));
  }
  edge_inputs_.resize(edges * padded(edge_width));
  first_edge_.assign(nodes + 1, 0);
  for (const std::size_t e : edge_order(graph.edge_dst)) {
    normalise(std::span(graph.edge_features).subspan(e * edge_width, edge_width),
              edge_inputs_.data() + edge_src_.size() * padded(edge_width));
    edge_src_.push_back(graph.edge_src[e]);
    ++first_edge_[static_cast<std::size_t>(graph.edge_dst[e]) + 1];
  }
  std::partial_sum(first_edge_.begin(), first_edge_.end(), first_edge_.begin());
}

PackedGraph PreparedGraph::packed() const {
  return {nodes(),         edges(), node_inputs_.data(), edge_inputs_.data(), first_edge_.data(),
          edge_src_.data()};
}

}  // namespace pacml::model
