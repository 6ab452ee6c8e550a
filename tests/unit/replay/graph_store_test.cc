#include "replay/graph_store.h"

#include "common/wire/graph_hash.h"
#include "tests/support/catch.h"

namespace pacml::replay {
namespace {

wire::Graph graph_of(float mark) {
  wire::Graph graph;
  graph.num_nodes = 2;
  graph.num_edges = 1;
  graph.node_width = 1;
  graph.edge_width = 1;
  graph.node_features = {mark, 2};
  graph.edge_features = {3};
  graph.edge_src = {0};
  graph.edge_dst = {1};
  graph.hash = wire::hash_graph(graph);
  return graph;
}

TEST_CASE("graphs are taken until their bytes are too many, and those that are there still count",
          "[unit][replay]") {
  REQUIRE(wire::bytes_of(graph_of(1)) == 20);
  GraphStore store(45);
  CHECK(store.add(graph_of(1)));
  CHECK(store.add(graph_of(1)));  // again: takes nothing
  CHECK(store.add(graph_of(2)));
  CHECK_FALSE(store.add(graph_of(3)));
  CHECK(store.add(graph_of(2)));
  CHECK(store.graphs().size() == 2);
  CHECK(store.index(graph_of(2).hash) == 1);
}

}  // namespace
}  // namespace pacml::replay
