#include "env/placement/op_graph_json.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml::env {
namespace {

using nlohmann::json;

constexpr const char* kGraph = R"({
  "ops": [{"name": "a", "cost_us": 10, "output_bytes": [7600, 15200], "group": "g", "memory": 5},
          {"name": "b", "cost_us": 2.5, "output_bytes": [], "parameter_bytes": 64, "kept_bytes": 5}],
  "edges": [["a", 1, "b"], [0, 0, 1]]})";

std::string refusal(const json& graph, const OpGraphLimits& limits = {}) {
  try {
    static_cast<void>(op_graph_from_json(graph, limits));
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("a graph is read out of JSON, with operations by name or number", "[unit][placement]") {
  const OpGraphSpec spec = op_graph_from_json(json::parse(kGraph));
  REQUIRE(spec.ops.size() == 2);
  CHECK(spec.ops[0] == OpSpec{.name = "a",
                              .cost_us = 10,
                              .output_bytes = {7600, 15200},
                              .group = "g",
                              .memory_bytes = 5});
  CHECK(spec.ops[1].parameter_bytes == 64);
  CHECK(spec.ops[1].kept_bytes == 5);
  CHECK(spec.edges == std::vector<OpEdge>{{0, 1, 1}, {0, 0, 1}});
}

TEST_CASE("JSON that is no graph is refused in a sentence", "[unit][placement]") {
  const json good = json::parse(kGraph);
  const auto with = [&](const char* pointer, const json& value) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    return refusal(bad);
  };
  CHECK(refusal(json::array()) == "the graph has no \"ops\"");
  CHECK(refusal({{"ops", json::array()}}) == "the graph has no \"edges\"");
  CHECK(with("/ops", 3) == "ops and edges of the graph must be lists");
  CHECK(with("/ops/0", 3) == "operation 0 has no \"name\"");
  CHECK(with("/ops/1/name", 3) == "the name of operation 1 is no text");
  CHECK(with("/ops/0/cost_us", "x") == "cost_us of operation 0 (\"a\") is no number");
  CHECK(with("/ops/0/output_bytes", 1) == "output_bytes of operation 0 (\"a\") is no list");
  CHECK(with("/ops/1/kept_bytes", "x") == "kept_bytes of operation 1 (\"b\") is no number");
  CHECK(with("/ops/0/group", 1) == "group of operation 0 (\"a\") is no text");
  CHECK(with("/ops/0/parameter_byte", 1) ==
        "operation 0 (\"a\") has an unknown \"parameter_byte\"; did you mean 'parameter_bytes'?");
  CHECK(with("/edge", 1) == "the graph has an unknown \"edge\"; did you mean 'edges'?");
  CHECK(with("/edges/1", {0, 1}) == "edge 1 is no list of producer, output and consumer");
  CHECK(with("/edges/0/0", "c") == "edge 0 names the operation \"c\", which is not there");
  CHECK(with("/edges/0/1", -1) == "the output of edge 0 is no whole number from 0");
  CHECK(with("/edges/1/2", 0.5) == "an end of edge 1 is no whole number from 0");
  CHECK(refusal(good, {.max_ops = 1}) == "the graph has 2 operations, more than 1");
  CHECK(refusal(good, {.max_edges = 1}) == "the graph has 2 edges, more than 1");
}

TEST_CASE("a graph's file is named where it cannot be read", "[unit][placement]") {
  const testing::TempDir folder;
  const auto file = folder / "graph.json";
  CHECK_THROWS_WITH(read_op_graph(file),
                    file.string() + ": it cannot be read: No such file or directory");
  std::ofstream(file) << "{";
  CHECK_THROWS_WITH(read_op_graph(file), Catch::Contains(file.string() + ": it is no JSON"));
  std::ofstream(file) << R"({"graph": )" << kGraph << "}";
  CHECK(read_op_graph(file).ops.size() == 2);
  std::ofstream(file) << kGraph;
  CHECK(read_op_graph(file).edges.size() == 2);
  const auto profile = folder / "graph.txt";
  std::ofstream(profile) << "node1 -- x -- forward_compute_time=1.0, backward_compute_time=2.0, "
                            "activation_size=8, parameter_size=0\n";
  CHECK(read_op_graph(profile).ops.size() == 2);
}

TEST_CASE("a graph that takes no time is refused", "[unit][placement]") {
  const testing::TempDir folder;
  const auto profile = folder / "graph.txt";
  std::ofstream(profile) << "node1 -- x -- forward_compute_time=0.0001, "
                            "backward_compute_time=0.0001, activation_size=8, parameter_size=0\n";
  CHECK_THROWS_WITH(read_op_graph(profile), Catch::Contains(": no operation takes any time"));
}

}  // namespace
}  // namespace pacml::env
