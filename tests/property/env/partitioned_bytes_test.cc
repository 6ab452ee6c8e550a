#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "common/index.h"
#include "common/rng.h"
#include "env/graph/job_graph.h"
#include "env/graph/partitioned_graph.h"
#include "tests/support/catch.h"
#include "tests/support/profiles.h"

namespace pacml::env {
namespace {

// A partitioned graph with the op of the job graph that each of its ops is a piece of.
struct Cut {
  Cut(const Profile& profile, int degree, DependencyBytes bytes)
      : graph(testing::make_graph(profile)), job(graph, degree, 0.01, 1.0, bytes) {
    origin.resize(at(job.num_ops()));
    for (OpIndex f = 0; f < graph->num_forward(); ++f) {
      for (int j = 0; j < job.pieces(f); ++j) {
        origin[at(job.forward_piece(f) + j)] = f;
        origin[at(job.backward_piece(f) + j)] = graph->counterpart(f);
      }
    }
  }
  [[nodiscard]] int pieces(OpIndex op) const { return job.pieces(op % graph->num_forward()); }

  JobGraphPtr graph;
  PartitionedGraph job;
  std::vector<OpIndex> origin;
};

Cut random_cut(std::uint64_t seed, DependencyBytes bytes) {
  Rng rng(Seed{seed});
  const Profile profile = testing::random_profile(rng, {.max_ops = 14, .costly_sinks = true});
  return Cut(profile, 2 * static_cast<int>(1 + rng.below(4)), bytes);
}

// Ops are cut in graph order, each forward op just before its counterpart.
int cut_order(OpIndex op, int num_forward) { return 2 * (op % num_forward) + (op / num_forward); }

TEST_CASE("dependency sizes follow their closed form", "[property][graph]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    const Cut c = random_cut(seed, DependencyBytes::kMemory);
    const auto memory = [&](OpIndex op) { return c.graph->memory()[at(op)]; };
    for (std::size_t d = 0; d < c.job.bytes().size(); ++d) {
      const OpIndex u = c.origin[at(c.job.src()[d])];
      const OpIndex v = c.origin[at(c.job.dst()[d])];
      const int ku = c.pieces(u);
      const int kv = c.pieces(v);
      const bool u_first =
          cut_order(u, c.graph->num_forward()) < cut_order(v, c.graph->num_forward());
      double expected = memory(u);
      if (u == v) {
        expected = memory(u) / ku;  // siblings
      } else if (ku > 1 && kv > 1) {
        expected = memory(u_first ? u : v) / ku / kv;
      } else if (ku > 1) {
        expected = memory(v) / ku;
      } else if (kv > 1) {
        expected = memory(u) / kv;
      }
      REQUIRE(c.job.bytes()[d] == Approx(expected).epsilon(1e-14));
    }
  }
}

TEST_CASE("activation sizes divide the producer's activation among all pairs of pieces",
          "[property][graph]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    const Cut c = random_cut(seed, DependencyBytes::kActivation);
    std::map<std::pair<OpIndex, OpIndex>, double> total;
    for (std::size_t d = 0; d < c.job.bytes().size(); ++d) {
      if (c.job.is_sync()[d] != 0) continue;
      total[{c.origin[at(c.job.src()[d])], c.origin[at(c.job.dst()[d])]}] += c.job.bytes()[d];
    }
    // What a dependency carries in all is what it carried before.
    REQUIRE(total.size() == c.graph->dependencies().size());
    for (const auto& d : c.graph->dependencies()) {
      REQUIRE(total.at({d.src, d.dst}) == Approx(d.bytes).epsilon(1e-12));
    }
  }
}

TEST_CASE("cutting keeps all work and memory, and connects every piece with every piece",
          "[property][graph]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    const Cut c = random_cut(seed, DependencyBytes::kMemory);
    CHECK(c.job.total_compute() == Approx(c.graph->total_compute()).epsilon(1e-12));
    CHECK(c.job.total_memory() == Approx(c.graph->total_memory()).epsilon(1e-12));

    std::size_t expected = 0;
    for (const auto& d : c.graph->dependencies()) {
      expected +=
          static_cast<std::size_t>(c.pieces(d.src)) * static_cast<std::size_t>(c.pieces(d.dst));
    }
    std::size_t sync = 0;
    for (OpIndex f = 0; f < c.graph->num_forward(); ++f) {
      const auto k = static_cast<std::size_t>(c.pieces(f));
      sync += k * (k - 1);
    }
    REQUIRE(c.job.bytes().size() == expected + sync);
    std::set<std::pair<OpIndex, OpIndex>> distinct;
    std::size_t marked = 0;
    for (std::size_t d = 0; d < c.job.bytes().size(); ++d) {
      distinct.emplace(c.job.src()[d], c.job.dst()[d]);
      marked += c.job.is_sync()[d];
    }
    CHECK(distinct.size() == c.job.bytes().size());
    CHECK(marked == sync);
  }
}

TEST_CASE("groups hold every dependency, and sync pairs are there and back", "[property][graph]") {
  using Kind = PartitionedGraph::GroupKind;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    const Cut c = random_cut(seed, DependencyBytes::kMemory);
    std::vector<int> in_groups(c.job.bytes().size(), 0);
    for (const auto& group : c.job.groups()) {
      for (const auto d : group.dependencies) {
        ++in_groups[at(d)];
        CHECK((c.job.is_sync()[at(d)] != 0) == (group.kind == Kind::kSyncPairs));
      }
      if (group.kind != Kind::kSyncPairs) continue;
      REQUIRE(group.dependencies.size() % 2 == 0);
      for (std::size_t i = 0; i < group.dependencies.size(); i += 2) {
        const auto there = at(group.dependencies[i]);
        const auto back = at(group.dependencies[i + 1]);
        CHECK(c.job.src()[there] == c.job.dst()[back]);
        CHECK(c.job.dst()[there] == c.job.src()[back]);
      }
    }
    for (std::size_t d = 0; d < in_groups.size(); ++d) {
      // Forward dependencies lead out of forward ops, backward ones into backward ops; the join
      // does both.
      const bool join = c.origin[at(c.job.src()[d])] < c.graph->num_forward() &&
                        c.origin[at(c.job.dst()[d])] >= c.graph->num_forward();
      CHECK(in_groups[d] == (join ? 2 : 1));
    }
  }
}

}  // namespace
}  // namespace pacml::env
