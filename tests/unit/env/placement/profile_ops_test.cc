#include "env/placement/profile_ops.h"

#include "tests/support/catch.h"

namespace pacml::env {
namespace {

// 1 -> 2, 1 -> 3, {2, 3} -> 4; times in milliseconds.
Profile diamond() {
  return {.model = "diamond",
          .ops = {{1, "in", 0.0005, 0.001, 100, 0},
                  {2, "left", 1.5, 3, 200, 8},
                  {3, "right", 2, 4, 300.75, 16},
                  {4, "out", 0.25, 0.5, 400, 0}},
          .dependencies = {{2, 4}, {1, 2}, {3, 4}, {1, 3}}};
}

TEST_CASE("a profile's forward pass is its layers in topological order", "[unit][placement]") {
  const OpGraphSpec spec = profile_ops(diamond(), ProfilePass::kForward);
  REQUIRE(spec.ops.size() == 4);
  CHECK(spec.ops[0].cost_us == 0);  // half a microsecond, to even
  CHECK(spec.ops[1].name == "node2");
  CHECK(spec.ops[1].cost_us == 1500);
  CHECK(spec.ops[1].parameter_bytes == 8);
  CHECK(spec.ops[2].output_bytes == std::vector<double>{300});
  CHECK(spec.ops[3].group.empty());
  CHECK(spec.edges == std::vector<OpEdge>{{0, 0, 1}, {0, 0, 2}, {1, 0, 3}, {2, 0, 3}});
}

TEST_CASE("the backward pass sends a gradient to each parent", "[unit][placement]") {
  const OpGraphSpec spec = profile_ops(diamond(), ProfilePass::kBoth);
  REQUIRE(spec.ops.size() == 8);
  CHECK(spec.ops[4].name == "node4/b");
  CHECK(spec.ops[4].group == "node4");
  CHECK(spec.ops[4].output_bytes == std::vector<double>{200, 300});
  CHECK(spec.ops[4].parameter_bytes == 0);  // the weights are the forward pass's
  CHECK(spec.ops[7].name == "node1/b");
  CHECK(spec.ops[7].output_bytes.empty());
  const std::vector<OpEdge> backward(spec.edges.begin() + 4, spec.edges.end());
  CHECK(backward == std::vector<OpEdge>{{3, 0, 4},  // out's own output
                                        {2, 0, 5},  // right
                                        {4, 1, 5},
                                        {1, 0, 6},  // left
                                        {4, 0, 6},
                                        {0, 0, 7},  // in: gradients from left and right
                                        {6, 0, 7},
                                        {5, 0, 7}});
  CHECK(OpGraph(spec).num_groups() == 4);
}

}  // namespace
}  // namespace pacml::env
