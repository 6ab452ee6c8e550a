#include "env/cost_graph/read_cost_graph.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "common/result.h"
#include "env/placement/op_graph_json.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

// As TensorFlow prints it; what is not read is there, too.
constexpr const char* kGraph = R"(
node {
  name: "_SOURCE"
  device: "/job:localhost/replica:0/task:0/device:CPU:0"
  output_info { size: -1 dtype: DT_INVALID shape { unknown_rank: true } }
}
node {
  name: "weights"
  id: 7
  output_info { size: 400 alias_input_port: -1 dtype: DT_FLOAT shape { dim { size: 10 } dim { size: 10 } } }
  control_input: 0
  persistent_memory_size: 400
  compute_time: 3
}
node {
  name: "MatMul"
  id: 3
  input_info { preceding_node: 7 }
  input_info { preceding_node: 7 preceding_port: 1 }
  output_info { size: 40 }
  output_info { size: 8 }
  temporary_memory_size: 64
  compute_cost: 25
  is_final: true
}
cost { cost: 25 dimension: "compute" }
)";

OpGraphSpec read(const std::string& text, const OpGraphLimits& limits = {}) {
  std::istringstream in(text);
  return read_cost_graph(in, "g.pbtxt", limits);
}

std::string refusal(const std::string& text, const OpGraphLimits& limits = {}) {
  try {
    static_cast<void>(read(text, limits));
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("a graph that TensorFlow has run is read with its costs", "[unit][cost_graph]") {
  const OpGraphSpec spec = read(kGraph);
  REQUIRE(spec.ops.size() == 3);
  CHECK(spec.ops[0] == OpSpec{"_SOURCE", 0, {0}, {}, {}, 0});
  CHECK(spec.ops[1] == OpSpec{"weights", 0, {400}, {}, {}, 0, 400});
  CHECK(spec.ops[2] == OpSpec{"MatMul", 25, {40, 8}, {}, {}, 0});
  // A control input sends nothing: its output is behind those that there are.
  CHECK(spec.edges == std::vector<OpEdge>{{0, 1, 1}, {1, 0, 2}, {1, 1, 2}});
  CHECK(op_graph_from_json(op_graph_to_json(spec)) == spec);
  CHECK(OpGraph(spec).spec() == spec);
}

TEST_CASE("of a node that is an input and a control input, the data is read",
          "[unit][cost_graph]") {
  const OpGraphSpec spec = read(
      "node { name: 'a' output_info { size: 400 } } node { name: 'b' } "
      "node { name: 'c' input_info { } control_input: 0 control_input: 1 }");
  CHECK(spec.edges == std::vector<OpEdge>{{0, 0, 2}, {1, 0, 2}});
  CHECK(OpGraph(spec).flows(PlacementSemantics::kPlaceto).output_consumers[0].size() == 1);
}

TEST_CASE("nodes without ids are numbered by their places", "[unit][cost_graph]") {
  const OpGraphSpec spec =
      read("node { name: 'a' } node { name: 'b' compute_cost: 1 control_input: 0 }");
  CHECK(spec.edges == std::vector<OpEdge>{{0, 0, 1}});
}

TEST_CASE("what is no graph of costs is refused with its place", "[unit][cost_graph]") {
  CHECK(refusal("") == "g.pbtxt: it has no nodes");
  CHECK_THAT(refusal("node {\n  name: 3\n}"), Catch::StartsWith("g.pbtxt:2:9: "));
  CHECK_THAT(refusal("node {"), Catch::StartsWith("g.pbtxt:1:7: "));
  CHECK_THAT(refusal("\x01\xff"), Catch::StartsWith("g.pbtxt:1:"));
  CHECK(refusal("node { name: 'a' id: 1 } node { name: 'b' id: 1 }") ==
        "g.pbtxt: two nodes have the id 1");
  CHECK(refusal("node { name: 'a' id: 1 control_input: 9 }") ==
        "g.pbtxt: node a has an input from node 9, which is not there");
  CHECK(refusal("node { name: 'a' id: 1 input_info { preceding_node: 1 preceding_port: -2 } }") ==
        "g.pbtxt: node a has an input from a port below 0");
  CHECK(refusal("node { name: 'a' } node { name: 'b' }", {.max_ops = 1}) ==
        "g.pbtxt: it has 2 nodes, more than 1");
  CHECK(refusal("node { name: 'a' } node { name: 'b' control_input: 0 control_input: 0 }",
                {.max_edges = 1}) == "g.pbtxt: it has more than 1 inputs");
  std::string deep = "node {";
  for (int n = 0; n < 1000; ++n) deep += "x {";
  CHECK_THAT(refusal(deep), Catch::StartsWith("g.pbtxt:1:"));
}

}  // namespace
}  // namespace pacml::env
