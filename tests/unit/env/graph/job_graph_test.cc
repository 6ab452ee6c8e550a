#include "env/graph/job_graph.h"

#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/profiles.h"

namespace pacml::env {
namespace {

using Ends = std::pair<OpIndex, OpIndex>;

template <class T>
std::vector<T> listed(std::span<const T> values) {
  return {values.begin(), values.end()};
}

std::vector<Ends> ends(const JobGraph& graph) {
  std::vector<Ends> out;
  for (const auto& d : graph.dependencies()) out.emplace_back(d.src, d.dst);
  return out;
}

// 1 -> {3, 2} -> 4, ops in the order 2, 1, 4, 3: positions 0, 1, 2, 3, counterparts 4, 5, 6, 7.
Profile diamond() {
  return testing::make_profile({{2, "Left", 2, 3, 20, 0},
                                {1, "Data", 4, 1, 10, 2},
                                {4, "Join", 1, 2, 5, 100},
                                {3, "Right", 2, 6, 30, 10}},
                               {{3, 4}, {1, 3}, {1, 2}, {2, 4}});
}

TEST_CASE("the backward pass mirrors ids, costs and memory", "[job graph]") {
  const JobGraph g(diamond());
  CHECK(g.num_forward() == 4);
  CHECK(g.num_ops() == 8);
  CHECK(g.counterpart(2) == 6);
  CHECK(listed(g.ids()) == std::vector<int>{2, 1, 4, 3, 7, 8, 5, 6});
  CHECK(listed(g.compute()) == std::vector<double>{2, 4, 1, 2, 3, 1, 2, 6});
  CHECK(listed(g.memory()) == std::vector<double>{20, 12, 105, 40, 20, 12, 105, 40});
}

TEST_CASE("backward dependencies run against the forward ones, joined once at the last op",
          "[job graph]") {
  const JobGraph g(diamond());
  // By op, in successor order: forward as in the file, backward as met when walking the forward
  // ones, and the join (2, 6).
  CHECK(ends(g) ==
        std::vector<Ends>{{0, 2}, {1, 3}, {1, 0}, {2, 6}, {3, 2}, {4, 5}, {6, 4}, {6, 7}, {7, 5}});
  std::vector<double> bytes;
  for (const auto& d : g.dependencies()) bytes.push_back(d.bytes);
  CHECK(bytes == std::vector<double>{20, 10, 10, 5, 30, 20, 5, 5, 30});
}

TEST_CASE("other sinks get no join, so that their counterparts are sources", "[job graph]") {
  const JobGraph g(testing::make_profile(
      {{1, "Data", 1, 1, 1, 0}, {2, "Aside", 0, 0, 1, 0}, {3, "Loss", 1, 1, 1, 0}},
      {{1, 2}, {1, 3}}));
  CHECK(listed(g.sources()) == std::vector<OpIndex>{0, g.counterpart(1)});
}

TEST_CASE("one op is joined to its own counterpart", "[job graph]") {
  const JobGraph g(testing::single_op(2, 3));
  CHECK(ends(g) == std::vector<Ends>{{0, 1}});
  CHECK(listed(g.ids()) == std::vector<int>{1, 2});
}

TEST_CASE("depth counts the ops of a shortest path from the first source", "[job graph]") {
  const JobGraph g(diamond());
  CHECK(listed(g.depth()) == std::vector<int>{2, 1, 3, 2, 5, 6, 4, 5});
  CHECK(g.max_depth().value == 6);
  CHECK(g.max_depth().op == 5);
}

TEST_CASE("ops that the first source does not reach have depth 0", "[job graph]") {
  // Two sources; 1 is first in the file's order.
  const JobGraph g(testing::make_profile(
      {{1, "A", 1, 1, 1, 0}, {2, "B", 1, 1, 1, 0}, {3, "C", 1, 1, 1, 0}}, {{1, 3}, {2, 3}}));
  CHECK(listed(g.sources()) == std::vector<OpIndex>{0, 1});
  CHECK(g.depth()[0] == 1);
  CHECK(g.depth()[1] == 0);
  CHECK(g.depth()[2] == 2);
}

TEST_CASE("a shorter path decides the depth", "[job graph]") {
  const JobGraph g(
      testing::make_profile({{1, "A", 1, 1, 1, 0}, {2, "B", 1, 1, 1, 0}, {3, "C", 1, 1, 1, 0}},
                            {{1, 2}, {2, 3}, {1, 3}}));
  CHECK(g.depth()[2] == 2);
}

TEST_CASE("statistics sum over both passes; the first op among equals is the largest",
          "[job graph]") {
  const JobGraph g(diamond());
  CHECK(g.total_compute() == 21);
  CHECK(g.total_memory() == 354);
  CHECK(g.total_dependency_bytes() == 135);
  CHECK(g.max_compute().value == 6);
  CHECK(g.max_compute().op == 7);
  CHECK(g.max_memory().value == 105);
  CHECK(g.max_memory().op == 2);  // position 6 has as much
  CHECK(g.max_throughput().value == 105);
  CHECK(g.max_throughput().op == 2);
  CHECK(g.max_dependency_bytes() == 30);
  CHECK(g.max_dependency() == 4);  // (3, 2); (7, 5) is as large

  const auto& m = g.moments();
  CHECK(m.compute_mean == Approx(21.0 / 8 / 6));
  CHECK(m.compute_median == Approx(2.0 / 6));
  CHECK(m.memory_mean == Approx(354.0 / 8 / 105));
  CHECK(m.memory_median == Approx(30.0 / 105));
  CHECK(m.bytes_mean == Approx(0.5));
  CHECK(m.bytes_median == Approx(10.0 / 30));
}

TEST_CASE("figures that are all 0 have no largest op", "[job graph]") {
  const JobGraph g(testing::single_op(1, 0));
  CHECK(g.max_memory().value == 0);
  CHECK(g.max_memory().op == kNoOp);
  CHECK(g.max_throughput().op == kNoOp);
  CHECK(g.max_dependency() == -1);
  CHECK(g.moments().memory_mean == 0);
  CHECK(g.moments().bytes_median == 0);
}

TEST_CASE("throughput leaves out ops that take no time", "[job graph]") {
  const JobGraph g(testing::single_op(0, 4, 6, 2));
  CHECK(g.max_throughput().value == 2);
  CHECK(g.max_throughput().op == 1);
}

TEST_CASE("ops are placed as their parents get done, first in first out", "[job graph]") {
  const JobGraph g(diamond());
  CHECK(listed(g.placement_sequence()) == std::vector<OpIndex>{1, 3, 0, 2});
  CHECK(listed(g.forward_parents(2)) == std::vector<OpIndex>{0, 3});
  CHECK(listed(g.forward_parents(0)) == std::vector<OpIndex>{1});
  CHECK(g.forward_parents(1).empty());
}

TEST_CASE("node and edge features are ratios to the graph's own largest", "[job graph]") {
  const JobGraph g(diamond());
  const GraphFeaturesPtr f = g.features(false);
  CHECK(f->num_nodes == 8);
  CHECK(f->num_edges == 9);
  REQUIRE(f->node_width == 5);
  REQUIRE(f->edge_width == 2);
  const auto node = [](const GraphFeatures& from, std::size_t i) {
    return std::vector<float>(from.node_features.begin() + static_cast<std::ptrdiff_t>(5 * i),
                              from.node_features.begin() + static_cast<std::ptrdiff_t>(5 * i + 5));
  };
  const auto ratio = [](double a, double b) { return static_cast<float>(a / b); };
  CHECK(node(*f, 2) == std::vector<float>{ratio(1, 6), 0, 1, 1, 0.5F});
  CHECK(node(*f, 6) == std::vector<float>{ratio(2, 6), 0, 1, 0, ratio(4, 6)});
  CHECK(node(*f, 7) == std::vector<float>{1, 0, ratio(40, 105), 0, ratio(5, 6)});
  CHECK(f->edge_features[2 * 4] == 1);
  CHECK(f->edge_features[2 * 4 + 1] == 1);
  CHECK(f->edge_features[2 * 8] == 1);
  CHECK(f->edge_features[2 * 8 + 1] == 0);
  CHECK(f->edge_src[4] == 3);
  CHECK(f->edge_dst[4] == 2);
  CHECK(f->hash == hash_features(*f));

  // As published the mark of the op that takes longest is never set.
  const GraphFeaturesPtr marked = g.features(true);
  CHECK(node(*marked, 7) == std::vector<float>{1, 1, ratio(40, 105), 0, ratio(5, 6)});
  CHECK(node(*marked, 6) == node(*f, 6));
  CHECK(marked->hash != f->hash);
  CHECK(g.features(false) == f);  // made once
}

}  // namespace
}  // namespace pacml::env
