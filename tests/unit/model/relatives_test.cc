#include "model/encoders/relatives.h"

#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::model {
namespace {

using Nodes = std::vector<std::int32_t>;

Ancestry ancestry_of(int nodes, const std::vector<std::pair<int, int>>& edges) {
  env::GraphFeatures graph;
  graph.num_nodes = nodes;
  graph.num_edges = static_cast<int>(edges.size());
  for (const auto& [from, to] : edges) {
    graph.edge_src.push_back(from);
    graph.edge_dst.push_back(to);
  }
  return Ancestry(graph);
}

TEST_CASE("relatives are those above, those below and the others, never oneself") {
  // 3 -> 1 -> 0 -> 4, 1 -> 2, and 5 alone; an edge that comes twice says nothing new.
  const Ancestry ancestry = ancestry_of(6, {{3, 1}, {1, 0}, {0, 4}, {1, 2}, {1, 0}});
  const Relatives of_0 = ancestry.of(0);
  CHECK(of_0.in(NodeSet::kAncestors) == Nodes{1, 3});
  CHECK(of_0.in(NodeSet::kDescendants) == Nodes{4});
  CHECK(of_0.in(NodeSet::kOthers) == Nodes{2, 5});
  const Relatives of_5 = ancestry.of(5);
  CHECK(of_5.ancestors.empty());
  CHECK(of_5.descendants.empty());
  CHECK(of_5.others == Nodes{0, 1, 2, 3, 4});
}

TEST_CASE("on a cycle all are above and below") {
  const Relatives of_1 = ancestry_of(4, {{0, 1}, {1, 2}, {2, 0}, {3, 3}}).of(1);
  CHECK(of_1.ancestors == Nodes{0, 2});
  CHECK(of_1.descendants == Nodes{0, 2});
  CHECK(of_1.others == Nodes{3});
}

}  // namespace
}  // namespace pacml::model
