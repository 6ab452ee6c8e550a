#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/ids.h"

namespace pacml::env {

// What a policy network sees of a graph: constants of the job's model. Immutable and shared: every
// environment, batch and cache of a process points to the same object.
struct GraphFeatures {
  int num_nodes = 0;
  int num_edges = 0;
  int node_width = 0;                  // features per node
  int edge_width = 0;                  // features per edge
  std::vector<float> node_features;    // row-major [num_nodes, node_width]
  std::vector<float> edge_features;    // row-major [num_edges, edge_width]
  std::vector<std::int32_t> edge_src;  // [num_edges], in [0, num_nodes)
  std::vector<std::int32_t> edge_dst;  // [num_edges], in [0, num_nodes)
  GraphHash hash;                      // of everything above; see hash_features

  bool operator==(const GraphFeatures&) const = default;
};

using GraphFeaturesPtr = std::shared_ptr<const GraphFeatures>;

// Content hash over widths, features' bits and edges; the same on every little-endian machine.
[[nodiscard]] GraphHash hash_features(const GraphFeatures& graph);

}  // namespace pacml::env
