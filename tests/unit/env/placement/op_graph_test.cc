#include "env/placement/op_graph.h"

#include <limits>
#include <string>
#include <vector>

#include "common/result.h"
#include "env/placement/families.h"
#include "env/placement/group_graph.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

using Indices = std::vector<std::int32_t>;

Indices list(std::span<const std::int32_t> s) { return {s.begin(), s.end()}; }

OpSpec op(std::string name, double cost = 1, std::vector<double> bytes = {1},
          std::string group = "") {
  return {.name = std::move(name),
          .cost_us = cost,
          .output_bytes = std::move(bytes),
          .group = std::move(group)};
}

std::string refusal(const OpGraphSpec& spec, const OpGraphLimits& limits = {}) {
  try {
    const OpGraph graph(spec, limits);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("a graph that cannot be is refused in a sentence", "[unit][placement]") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  CHECK(refusal({}) == "the graph has no operations");
  CHECK(refusal({{op("a"), op("b"), op("c")}, {}}, {.max_ops = 2}) ==
        "the graph has 3 operations, more than 2");
  CHECK(refusal({{op("a"), op("b")}, {{0, 0, 1}, {0, 0, 1}}}, {.max_edges = 1}) ==
        "the graph has 2 edges, more than 1");
  CHECK(refusal({{op("a"), op("b")}, {{0, 40, 1}}}, {.max_outputs = 20}) ==
        "the graph has 42 outputs, more than 20");
  CHECK(refusal({{op("a", -1)}, {}}) ==
        "the operation \"a\" has a cost that is no number from 0 to 1e18");
  CHECK(refusal({{op("a", kNan)}, {}}) ==
        "the operation \"a\" has a cost that is no number from 0 to 1e18");
  CHECK(refusal({{op("a", 1, {kInfinite})}, {}}) ==
        "the operation \"a\" has a size that is no number from 0 to 1e18");
  CHECK(refusal({{op("a"), op("a")}, {}}) == "there are two operations \"a\"");
  CHECK(refusal({{op("a")}, {{0, 0, 1}}}) == "an edge names operation 1 of 1");
  CHECK(refusal({{op("a")}, {{-1, 0, 0}}}) == "an edge names operation -1 of 1");
  CHECK(refusal({{op("a"), op("b")}, {{0, -2, 1}}}) == "an edge names output -2");
  CHECK(refusal({{op("a")}, {{0, 0, 0}}}) == "the operation \"a\" consumes its own output");
  CHECK(refusal({{op("a"), op("b"), op("c")}, {{1, 0, 2}, {2, 0, 1}}}) ==
        "the graph has a cycle: the operation \"b\" waits for itself or for one that does");
}

TEST_CASE("as published, a consumer gets the output that it named last, and counts once",
          "[unit][placement]") {
  // 2 names both outputs of 0, and an output of 1 that has no entry.
  const OpGraph graph({{op("a", 1, {5, 7}), op("b", 1, {}), op("c")},
                       {{0, 1, 2}, {1, 0, 2}, {0, 0, 2}, {0, 1, 1}}});
  const OpFlows& flows = graph.flows(PlacementSemantics::kPlaceto);
  CHECK(list(graph.consumers()[0]) == Indices{1, 2});
  CHECK(list(flows.consumers[0]) == Indices{1, 2});
  CHECK(list(flows.outputs[0]) == Indices{1, 0});
  CHECK(list(flows.output_consumers[0]) == Indices{2});
  CHECK(list(flows.output_consumers[1]) == Indices{1});
  CHECK(graph.num_outputs() == 4);
  CHECK(graph.output_bytes()[2] == 0);
  CHECK(list(graph.parents()[2]) == Indices{0, 1});
  CHECK(list(flows.parents[2]) == Indices{0, 1});
  CHECK(list(flows.parent_outputs[2]) == Indices{0, 2});
  CHECK(list(graph.sources()) == Indices{0});
  CHECK(list(graph.topological_order()) == Indices{0, 1, 2});
  CHECK(graph.bytes_out()[0] == 12);
  CHECK(graph.total_cost_us() == 3);
}

TEST_CASE("with corrected semantics a consumer gets every output that it names, once",
          "[unit][placement]") {
  const OpGraph graph({{op("a", 1, {5, 7}), op("b", 1, {}), op("c")},
                       {{0, 1, 2}, {1, 0, 2}, {0, 0, 2}, {0, 1, 2}, {0, 1, 1}}});
  const OpFlows& flows = graph.flows(PlacementSemantics::kCorrected);
  CHECK(list(flows.consumers[0]) == Indices{1, 2, 2});
  CHECK(list(flows.outputs[0]) == Indices{1, 1, 0});
  CHECK(list(flows.output_consumers[0]) == Indices{2});
  CHECK(list(flows.output_consumers[1]) == Indices{1, 2});
  CHECK(list(flows.parents[2]) == Indices{0, 0, 1});
  CHECK(list(flows.parent_outputs[2]) == Indices{1, 0, 2});
  CHECK(list(graph.consumers()[0]) == Indices{1, 2});  // each once
  CHECK(list(graph.parents()[2]) == Indices{0, 1});
}

TEST_CASE("names are ranked byte by byte", "[unit][placement]") {
  const OpGraph graph({{op("n2"), op("n10"), op("N9"), op("n")}, {}});
  CHECK(list(graph.name_rank()) == Indices{3, 2, 0, 1});
}

TEST_CASE("the first or the last of what is ready comes first", "[unit][placement]") {
  // Two chains: 0 -> 2 -> 4 and 1 -> 3.
  const IndexLists children({{2}, {3}, {4}, {}, {}});
  CHECK(fifo_topological_order(children) == Indices{0, 1, 2, 3, 4});
  CHECK(lifo_topological_order(children) == Indices{1, 3, 0, 2, 4});
  CHECK(fifo_topological_order(IndexLists({{1}, {0}, {}})) == Indices{2});
}

TEST_CASE("passes of one layer are one node, without a cycle", "[unit][placement]") {
  const OpGraph graph({{op("x", 3, {8}, "x"), op("y", 5, {4}, "y"), op("y/b", 6, {8}, "y"),
                        op("x/b", 7, {}, "x"), op("alone", 2, {9, 1})},
                       {{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {0, 0, 3}, {3, 0, 4}}});
  REQUIRE(graph.num_groups() == 3);
  CHECK(graph.group_name(0) == "x");
  CHECK(graph.group_name(2) == "alone");
  const GroupGraph groups(graph, PlacementSemantics::kPlaceto);
  CHECK(list(groups.children()[0]) == Indices{1, 2});
  CHECK(groups.children()[1].empty());
  CHECK(list(groups.parents()[2]) == Indices{0});
  CHECK(groups.attributes()[0].cost_us == 10);
  CHECK(groups.attributes()[0].out_bytes == 8);
  CHECK(groups.attributes()[1].out_bytes == 8);  // y's own output stays inside
  CHECK(groups.attributes()[1].memory_bytes == 12);
  CHECK(groups.attributes()[2].out_bytes == 10);  // one operation: all it puts out
}

TEST_CASE("what leaves a group is what its consumers get", "[unit][placement]") {
  const OpGraph graph(
      {{op("a", 1, {5, 7}, "g"), op("b", 1, {}, "g"), op("c")}, {{0, 0, 2}, {0, 1, 2}, {0, 0, 1}}});
  const auto out_bytes = [&](PlacementSemantics semantics) {
    return GroupGraph(graph, semantics).attributes()[0].out_bytes;
  };
  CHECK(out_bytes(PlacementSemantics::kPlaceto) == 7);  // the one named last
  CHECK(out_bytes(PlacementSemantics::kCorrected) == 12);
}

TEST_CASE("what can be reached is found across words", "[unit][placement]") {
  const OpGraph graph(chain_graph(100, 2, 1, 1));
  const Reachability reachable(graph.consumers());
  CHECK(reachable.reaches(0, 201));
  CHECK(reachable.reaches(1, 100));
  CHECK_FALSE(reachable.reaches(100, 1));
  CHECK_FALSE(reachable.reaches(1, 101));
  CHECK_FALSE(reachable.reaches(7, 7));
}

}  // namespace
}  // namespace pacml::env
