#pragma once

#include <map>
#include <string>
#include <vector>

#include "env/graph_features.h"
#include "model/network_config.h"
#include "model/parameters.h"

namespace pacml::learner {

// A trained policy as it leaves the program. Value type.
struct PolicyExport {
  model::NetworkShape shape;
  model::Parameters parameters;
  // For whoever uses the file: "config" (the run's YAML), "normalisation" (how the features were
  // scaled), run id, score, ... Texts, in UTF-8.
  std::map<std::string, std::string> notes;
  // The task's graphs, on which reference outputs are given besides synthetic ones.
  std::vector<env::GraphFeaturesPtr> graphs;
};

// The notes, with the feature widths, the network's sizes and the policy version added: what both
// formats carry. Pure.
[[nodiscard]] std::map<std::string, std::string> export_metadata(const PolicyExport& policy);

// Inputs with the outputs that they must give, as JSON, computed by the reference implementation in
// double precision. One case per call of the exported function; arrays are nested by rows:
//
//   {"tolerance": 1e-5, "cases": [{"node_features", "edge_features", "edge_src", "edge_dst",
//     "node_graph", "globals", "mask", "logits", "values"}, ..]}
//
// Cases: one graph of a single node, several graphs of different sizes at once, nodes without
// incoming edges, and the task's own graphs. Pure.
[[nodiscard]] std::string reference_cases(const PolicyExport& policy);

}  // namespace pacml::learner
