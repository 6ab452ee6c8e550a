#include "env/graph/partitioned_graph.h"

#include <tuple>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/profiles.h"

namespace pacml::env {
namespace {

using Kind = PartitionedGraph::GroupKind;
using Dep = std::tuple<OpIndex, OpIndex, double>;

template <class T>
std::vector<T> listed(std::span<const T> values) {
  return {values.begin(), values.end()};
}

std::vector<Dep> dependencies(const PartitionedGraph& job) {
  std::vector<Dep> out;
  for (std::size_t d = 0; d < job.src().size(); ++d) {
    out.emplace_back(job.src()[d], job.dst()[d], job.bytes()[d]);
  }
  return out;
}

// Op 1 (memory 12) feeds op 2 (memory 8).
JobGraphPtr chain() {
  return testing::make_graph(
      testing::make_profile({{1, "A", 4, 6, 10, 2}, {2, "B", 2, 3, 4, 4}}, {{1, 2}}));
}

TEST_CASE("an op is cut into an even number of pieces no shorter than the quantum", "[partition]") {
  CHECK(pieces_of(1.0, 0.01, 16) == 16);
  CHECK(pieces_of(1.0, 0.01, 1) == 1);
  CHECK(pieces_of(0.0, 0.01, 16) == 1);
  CHECK(pieces_of(0.005, 0.01, 16) == 2);  // one quantum, rounded up to a pair
  CHECK(pieces_of(0.02, 0.01, 16) == 2);
  CHECK(pieces_of(0.021, 0.01, 16) == 4);
  CHECK(pieces_of(0.06, 0.01, 16) == 6);
  CHECK(pieces_of(0.06, 0.01, 4) == 4);
  CHECK(pieces_of(1e30, 1e-30, 512) == 512);
}

TEST_CASE("an uncut graph carries memory on its dependencies, not activations", "[partition]") {
  const PartitionedGraph job(chain(), 1, 0.01, 1.0, DependencyBytes::kMemory);
  CHECK(job.degree() == 1);
  CHECK(dependencies(job) == std::vector<Dep>{{0, 1, 12}, {1, 3, 8}, {3, 2, 8}});
  CHECK(listed(job.compute()) == std::vector<double>{4, 2, 6, 3});
  CHECK(listed(job.num_parents()) == std::vector<std::int32_t>{0, 1, 1, 1});
  CHECK(listed(job.sources()) == std::vector<OpIndex>{0});
  for (const auto& group : job.groups()) CHECK(group.kind == Kind::kOneToOne);
}

TEST_CASE("two cut ops: pieces, orders and sizes as computed by hand", "[partition]") {
  const PartitionedGraph job(chain(), 2, 0.01, 1.0, DependencyBytes::kMemory);
  CHECK(job.degree() == 2);
  // Cut in the order op 1, its counterpart, op 2, its counterpart.
  CHECK(job.forward_piece(0) == 0);
  CHECK(job.backward_piece(0) == 2);
  CHECK(job.forward_piece(1) == 4);
  CHECK(job.backward_piece(1) == 6);
  CHECK(listed(job.compute()) == std::vector<double>{2, 2, 3, 3, 1, 1, 1.5, 1.5});
  CHECK(listed(job.memory()) == std::vector<double>{6, 6, 6, 6, 4, 4, 4, 4});
  // The end that is cut last divides the other end's piece: 6 / 2 from op 1 to op 2. Backward
  // siblings exchange a piece's memory.
  CHECK(dependencies(job) == std::vector<Dep>{{0, 4, 3},
                                              {0, 5, 3},
                                              {1, 4, 3},
                                              {1, 5, 3},
                                              {2, 3, 6},
                                              {3, 2, 6},
                                              {4, 6, 2},
                                              {4, 7, 2},
                                              {5, 6, 2},
                                              {5, 7, 2},
                                              {6, 2, 3},
                                              {6, 3, 3},
                                              {6, 7, 4},
                                              {7, 2, 3},
                                              {7, 3, 3},
                                              {7, 6, 4}});
  CHECK(listed(job.out_begin()) == std::vector<std::int32_t>{0, 2, 4, 5, 6, 8, 10, 13, 16});
  CHECK(listed(job.is_sync()) ==
        std::vector<std::uint8_t>{0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1});
  CHECK(listed(job.num_parents()) == std::vector<std::int32_t>{0, 0, 2, 2, 2, 2, 2, 2});
  CHECK(listed(job.sources()) == std::vector<OpIndex>{0, 1});
  CHECK(job.total_compute() == 15);
  CHECK(job.total_memory() == 40);
  CHECK(job.total_dependency_bytes() == 4 * 3 + 2 * 6 + 4 * 2 + 4 * 3 + 2 * 4);
}

TEST_CASE("groups follow successors forward, predecessors backward, then sibling pairs",
          "[partition]") {
  const PartitionedGraph job(chain(), 2, 0.01, 1.0, DependencyBytes::kMemory);
  using Items = std::vector<std::int32_t>;
  const std::vector<std::pair<Kind, Items>> expected = {
      {Kind::kCollective, {0, 1, 2, 3}}, {Kind::kCollective, {10, 13, 11, 14}},
      {Kind::kSyncPairs, {5, 4}},        {Kind::kCollective, {6, 7, 8, 9}},
      {Kind::kCollective, {6, 8, 7, 9}}, {Kind::kSyncPairs, {15, 12}}};
  REQUIRE(job.groups().size() == expected.size());
  for (std::size_t g = 0; g < expected.size(); ++g) {
    CAPTURE(g);
    CHECK(job.groups()[g].kind == expected[g].first);
    CHECK(listed(job.groups()[g].dependencies) == expected[g].second);
  }
}

TEST_CASE("ops that are not cut come first and keep their order", "[partition]") {
  // Op 2 takes no time in the forward pass, so neither it nor its counterpart is cut.
  const PartitionedGraph job(testing::make_graph(testing::make_profile(
                                 {{1, "A", 4, 6, 10, 2}, {2, "B", 0, 3, 4, 4}}, {{1, 2}})),
                             2, 0.01, 1.0, DependencyBytes::kMemory);
  CHECK(job.pieces(0) == 2);
  CHECK(job.pieces(1) == 1);
  CHECK(job.forward_piece(1) == 0);
  CHECK(job.backward_piece(1) == 1);
  CHECK(job.forward_piece(0) == 2);
  CHECK(job.backward_piece(0) == 4);
  // The uncut end's memory is divided, on whichever side it is.
  CHECK(dependencies(job) ==
        std::vector<Dep>{
            {0, 1, 8}, {1, 4, 4}, {1, 5, 4}, {2, 0, 4}, {3, 0, 4}, {4, 5, 6}, {5, 4, 6}});
  CHECK(listed(job.num_parents()) == std::vector<std::int32_t>{2, 1, 0, 0, 1, 1});
  // The join belongs to the forward group of op 2 and to the backward group of its counterpart.
  REQUIRE(job.groups().size() == 5);
  CHECK(job.groups()[3].kind == Kind::kOneToOne);
  CHECK(listed(job.groups()[3].dependencies) == std::vector<std::int32_t>{0});
  CHECK(listed(job.groups()[4].dependencies) == std::vector<std::int32_t>{0});
}

TEST_CASE("which end was cut last depends on the file's order of ops", "[partition]") {
  const PartitionedGraph job(testing::make_graph(testing::make_profile(
                                 {{2, "B", 2, 3, 4, 4}, {1, "A", 4, 6, 10, 2}}, {{1, 2}})),
                             2, 0.01, 1.0, DependencyBytes::kMemory);
  // Op 2 is cut first here: from op 1 to op 2 it is its memory that counts, 8 / 2 / 2.
  const OpIndex from = job.forward_piece(1);
  const OpIndex to = job.forward_piece(0);
  for (const auto& [src, dst, bytes] : dependencies(job)) {
    if (src >= from && src < from + 2 && dst >= to && dst < to + 2) CHECK(bytes == 2);
  }
}

TEST_CASE("activation sizes leave parameters out and keep what siblings exchange", "[partition]") {
  const PartitionedGraph job(chain(), 2, 0.01, 1.0, DependencyBytes::kActivation);
  CHECK(dependencies(job) == std::vector<Dep>{{0, 4, 2.5},
                                              {0, 5, 2.5},
                                              {1, 4, 2.5},
                                              {1, 5, 2.5},
                                              {2, 3, 6},
                                              {3, 2, 6},
                                              {4, 6, 1},
                                              {4, 7, 1},
                                              {5, 6, 1},
                                              {5, 7, 1},
                                              {6, 2, 1},
                                              {6, 3, 1},
                                              {6, 7, 4},
                                              {7, 2, 1},
                                              {7, 3, 1},
                                              {7, 6, 4}});
}

TEST_CASE("the time scale changes times, not the number of pieces", "[partition]") {
  const PartitionedGraph job(chain(), 4, 0.01, 1e-3, DependencyBytes::kMemory);
  CHECK(job.degree() == 4);
  CHECK(job.compute()[0] == Approx(1e-3));
  CHECK(job.total_compute() == Approx(15e-3));
}

TEST_CASE("a cut op that feeds nothing has an empty forward group", "[partition]") {
  const PartitionedGraph job(
      testing::make_graph(testing::make_profile(
          {{1, "A", 1, 1, 1, 0}, {2, "Aside", 1, 1, 1, 0}, {3, "Loss", 1, 1, 1, 0}},
          {{1, 2}, {1, 3}})),
      2, 0.01, 1.0, DependencyBytes::kMemory);
  CHECK(job.groups()[3].kind == Kind::kCollective);
  CHECK(job.groups()[3].dependencies.empty());
  // Its backward pieces have siblings, but neither parents nor a place among the sources.
  const OpIndex piece = job.backward_piece(1);
  CHECK(job.num_parents()[static_cast<std::size_t>(piece)] == 0);
  CHECK(listed(job.sources()) ==
        std::vector<OpIndex>{job.forward_piece(0), job.forward_piece(0) + 1});
}

}  // namespace
}  // namespace pacml::env
