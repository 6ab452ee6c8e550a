#include "learner/export/policy_export.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "common/rng.h"
#include "model/reference_policy.h"

namespace pacml::learner {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-5;

env::GraphFeaturesPtr synthetic_graph(Rng& rng, const model::NetworkShape& shape, int nodes,
                                      int edges) {
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->num_nodes = nodes;
  graph->num_edges = edges;
  graph->node_width = shape.graph().node_width;
  graph->edge_width = shape.graph().edge_width;
  for (int i = 0; i < nodes * shape.graph().node_width; ++i) {
    graph->node_features.push_back(static_cast<float>(rng.uniform()));
  }
  for (int i = 0; i < edges * shape.graph().edge_width; ++i) {
    graph->edge_features.push_back(static_cast<float>(rng.uniform()));
  }
  const auto draw_node = [&] {
    return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(nodes)));
  };
  for (int e = 0; e < edges; ++e) {
    graph->edge_src.push_back(draw_node());
    graph->edge_dst.push_back(draw_node());
  }
  graph->hash = env::hash_features(*graph);
  return graph;
}

// `values` as rows of `width`.
template <class T>
json rows(std::span<const T> values, std::size_t width) {
  json out = json::array();
  for (std::size_t at = 0; at < values.size(); at += width) {
    const auto row = values.subspan(at, width);
    out.push_back(std::vector<T>(row.begin(), row.end()));
  }
  return out;
}

void append(json& array, const json& more) { array.insert(array.end(), more.begin(), more.end()); }

// One call with one decision per graph.
json make_case(const PolicyExport& policy, std::span<const env::GraphFeaturesPtr> graphs,
               Rng& rng) {
  const model::NetworkShape& shape = policy.shape;
  json out;
  for (const char* key : {"node_features", "edge_features", "edge_src", "edge_dst", "node_graph"}) {
    out[key] = json::array();
  }
  Observations batch(model::input_shape(shape), graphs.size());
  std::int32_t first_node = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const env::GraphFeatures& graph = *graphs[g];
    append(out["node_features"],
           rows<float>(graph.node_features, static_cast<std::size_t>(shape.graph().node_width)));
    append(out["edge_features"],
           rows<float>(graph.edge_features, static_cast<std::size_t>(shape.graph().edge_width)));
    for (const std::int32_t node : graph.edge_src) out["edge_src"].push_back(first_node + node);
    for (const std::int32_t node : graph.edge_dst) out["edge_dst"].push_back(first_node + node);
    for (int v = 0; v < graph.num_nodes; ++v) out["node_graph"].push_back(g);
    first_node += graph.num_nodes;

    const ObservationRow row = batch.row(g);
    row.graph[0] = static_cast<std::uint16_t>(g);
    for (float& x : row.globals) x = static_cast<float>(rng.uniform());
    for (std::uint8_t& valid : row.mask) valid = static_cast<std::uint8_t>(rng.below(2));
    row.mask[rng.below(row.mask.size())] = 1;
  }
  const auto reference = model::make_reference_policy(shape);
  reference->set_graphs(graphs);
  reference->set_parameters(policy.parameters);
  model::PolicyOutput outputs;
  reference->evaluate(batch, outputs);
  out["globals"] = rows(batch.globals(), batch.num_globals());
  out["mask"] = rows(batch.masks(), batch.num_candidates());
  out["logits"] = rows<float>(outputs.logits, batch.num_candidates());
  out["values"] = outputs.values;
  return out;
}

}  // namespace

std::map<std::string, std::string> export_metadata(const PolicyExport& policy) {
  const model::NetworkConfig& config = policy.shape.config;
  std::map<std::string, std::string> out = policy.notes;
  out["format"] = "pacml policy 1";
  out["policy_version"] = std::to_string(policy.parameters.version.get());
  for (const auto& [name, value] : {std::pair{"node_features", policy.shape.graph().node_width},
                                    {"edge_features", policy.shape.graph().edge_width},
                                    {"globals", policy.shape.globals},
                                    {"actions", policy.shape.actions},
                                    {"rounds", config.rounds},
                                    {"message_width", config.message_width},
                                    {"hidden_width", config.hidden_width},
                                    {"node_width", config.node_width},
                                    {"graph_width", config.graph_width},
                                    {"readout_width", config.readout_width}}) {
    out[name] = std::to_string(value);
  }
  return out;
}

std::string reference_cases(const PolicyExport& policy) {
  Rng rng(Seed{1});
  const auto graph = [&](int nodes, int edges) {
    return synthetic_graph(rng, policy.shape, nodes, edges);
  };
  json cases = json::array();
  const auto add = [&](const std::vector<env::GraphFeaturesPtr>& graphs) {
    cases.push_back(make_case(policy, graphs, rng));
  };
  add({graph(1, 0)});
  add({graph(12, 20)});
  // Few edges for many nodes: several have none that leads into them.
  add({graph(5, 4), graph(1, 0), graph(2, 3), graph(60, 45)});
  if (!policy.graphs.empty()) add(policy.graphs);
  return json{{"tolerance", kTolerance}, {"cases", cases}}.dump();
}

}  // namespace pacml::learner
