#include "env/graph_features.h"

#include "tests/support/catch.h"

namespace pacml::env {
namespace {

GraphFeatures example() {
  GraphFeatures graph;
  graph.num_nodes = 2;
  graph.num_edges = 1;
  graph.node_width = 2;
  graph.edge_width = 1;
  graph.node_features = {0.25F, 1, 0.5F, 0};
  graph.edge_features = {0.75F};
  graph.edge_src = {0};
  graph.edge_dst = {1};
  return graph;
}

TEST_CASE("equal graphs have equal hashes, whatever hash they carry") {
  GraphFeatures copy = example();
  copy.hash = GraphHash{99};
  CHECK(hash_features(copy) == hash_features(example()));
}

TEST_CASE("a graph's hash depends on every part of its content") {
  const auto changed = [](auto change) {
    GraphFeatures graph = example();
    change(graph);
    return hash_features(graph) != hash_features(example());
  };
  CHECK(changed([](GraphFeatures& g) { g.num_nodes = 3; }));
  CHECK(changed([](GraphFeatures& g) { g.node_width = 4; }));
  CHECK(changed([](GraphFeatures& g) { g.node_features[3] = 1e-7F; }));
  CHECK(changed([](GraphFeatures& g) { g.edge_features[0] = 0.5F; }));
  CHECK(changed([](GraphFeatures& g) { std::swap(g.edge_src, g.edge_dst); }));
  CHECK(changed([](GraphFeatures& g) { std::swap(g.node_features[0], g.node_features[1]); }));
}

TEST_CASE("a graph's hash is the same in every version of the program") {
  // Computed from the description in common/hash.h by another program.
  CHECK(hash_features(example()).get() == 0xedaf074ad23f5789);
}

}  // namespace
}  // namespace pacml::env
