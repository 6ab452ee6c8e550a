#include "env/ramp/topology.h"

#include <limits>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::env {
namespace {

using Block = std::vector<Server>;

// The first block of a shape, and how many origins the shape has.
struct Shape {
  Block first;
  std::size_t origins;
};

// Walks the candidates of `pieces` servers and compares the first block of each expected shape.
void check_candidates(const Topology& topology, int pieces, const std::vector<Shape>& shapes) {
  CAPTURE(pieces);
  const auto blocks = topology.blocks(pieces);
  const auto k = static_cast<std::size_t>(pieces);
  std::size_t next = 0;
  for (const Shape& shape : shapes) {
    REQUIRE(blocks.size() >= (next + shape.origins) * k);
    const auto first = blocks.subspan(next * k, k);
    CHECK(Block(first.begin(), first.end()) == shape.first);
    next += shape.origins;
  }
  CHECK(blocks.size() == next * k);
}

TEST_CASE("servers are numbered by group, rack and place in the rack", "[topology]") {
  const Topology t({4, 3, 2}, 1);
  CHECK(t.num_servers() == 24);
  int flat = 0;
  for (int group = 0; group < 4; ++group) {
    for (int rack = 0; rack < 3; ++rack) {
      for (int server = 0; server < 2; ++server, ++flat) {
        const auto c = t.coordinates(static_cast<Server>(flat));
        CHECK(c.group == group);
        CHECK(c.rack == rack);
        CHECK(c.server == server);
      }
    }
  }
}

TEST_CASE("blocks of the paper's cluster come in the order of first fit", "[topology]") {
  const Topology t({4, 4, 2}, 16);
  // Server (group, rack, place) is 8 group + 2 rack + place. Shapes as groups x racks x places.
  const Shape single = {{0}, 32};
  check_candidates(t, 1, {single, single, single, single, single});
  check_candidates(t, 2,
                   {{{0, 8}, 24},  // 2x1x1, and again with its factors swapped
                    {{0, 8}, 24},
                    {{0, 1}, 16},  // 1x1x2, as square and as row
                    {{0, 1}, 16},
                    {{0, 2}, 24},    // 1x2x1
                    {{0, 10}, 18},   // diagonal
                    {{0, 8}, 24}});  // 2x1x1
  check_candidates(t, 4,
                   {{{0, 2, 8, 10}, 18},  // 2x2x1
                    {{0, 8, 16, 24}, 8},  // 4x1x1
                    {{0, 8, 16, 24}, 8},
                    {{0, 1, 8, 9}, 12},     // 2x1x2
                    {{0, 2, 8, 10}, 18},    // 2x2x1
                    {{0, 10, 20, 30}, 2},   // diagonal
                    {{0, 8, 16, 24}, 8}});  // 4x1x1
  check_candidates(t, 6,
                   {{{0, 1, 8, 9, 16, 17}, 8},      // 3x1x2
                    {{0, 2, 8, 10, 16, 18}, 12}});  // 3x2x1
  check_candidates(t, 8,
                   {{{0, 1, 2, 3, 8, 9, 10, 11}, 9},       // 2x2x2
                    {{0, 1, 8, 9, 16, 17, 24, 25}, 4},     // 4x1x2
                    {{0, 2, 8, 10, 16, 18, 24, 26}, 6}});  // 4x2x1
  check_candidates(t, 16, {{{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}, 2}});
}

TEST_CASE("origins advance in the last dimension first", "[topology]") {
  const Topology t({4, 4, 2}, 2);
  const auto blocks = t.blocks(2);
  const std::vector<Server> head(blocks.begin(), blocks.begin() + 10);
  CHECK(head == std::vector<Server>{0, 8, 1, 9, 2, 10, 3, 11, 4, 12});
}

TEST_CASE("the paper's cluster has shapes for 1, 2, 4, 6, 8 and 16 servers", "[topology]") {
  const Topology t({4, 4, 2}, 16);
  std::vector<int> valid;
  for (int k = 1; k <= 16; ++k) {
    if (t.has_block_shape(k)) valid.push_back(k);
  }
  CHECK(valid == std::vector<int>{1, 2, 4, 6, 8, 16});
  for (const int k : {10, 12, 14}) CHECK(t.blocks(k).empty());
}

TEST_CASE("fallback shapes offer blocks, but do not make a number valid", "[topology]") {
  const Topology t({4, 1, 1}, 4);
  CHECK_FALSE(t.has_block_shape(4));
  check_candidates(t, 4, {{{0, 1, 2, 3}, 1}});
}

TEST_CASE("a block that first fit comes to in several ways is one, where it comes first",
          "[topology]") {
  // Server (group, rack, place) is 4 group + 2 rack + place: 2x1x1, 1x1x2, 1x2x1, the diagonals.
  const std::vector<Block> blocks = {{0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 1}, {2, 3}, {4, 5},
                                     {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 6}, {1, 7}};
  CHECK(distinct_blocks(Topology({2, 2, 2}, 2), 2) == blocks);
}

TEST_CASE("no more servers than there are form a block", "[topology]") {
  const Topology t({2, 2, 2}, 16);
  CHECK(t.has_block_shape(8));
  check_candidates(t, 8, {{{0, 1, 2, 3, 4, 5, 6, 7}, 1}});
  CHECK_FALSE(t.has_block_shape(16));
  CHECK(t.blocks(16).empty());
}

TEST_CASE("a cluster of one server has one block", "[topology]") {
  const Topology t({1, 1, 1}, 2);
  CHECK(t.has_block_shape(1));
  CHECK(t.blocks(1).front() == 0);
  CHECK_FALSE(t.has_block_shape(2));
}

TEST_CASE("a set of servers counts, joins and leaves across words", "[topology]") {
  ServerSet a(130);
  for (const Server s : std::vector<Server>{0, 63, 64, 129}) a.insert(s);
  CHECK(a.count() == 4);
  CHECK(a.contains(63));
  CHECK_FALSE(a.contains(1));
  ServerSet b(130);
  b.insert(1);
  b.insert(129);
  a.insert(b);
  CHECK(a.count() == 5);
  a.erase(b);
  CHECK(a.count() == 3);
  CHECK_FALSE(a.contains(129));
  a.erase(Server{64});
  ServerSet c(130);
  c.insert(0);
  c.insert(63);
  CHECK(a == c);
  a.clear();
  CHECK(a == ServerSet(130));
}

TEST_CASE("impossible clusters are refused with the key at fault", "[topology]") {
  const auto problem = [](auto change) {
    RampConfig c;
    change(c);
    const auto problems = validate(c);
    return problems.size() == 1 ? problems.front() : std::to_string(problems.size()) + " problems";
  };
  constexpr double kInf = std::numeric_limits<double>::infinity();
  CHECK(validate(RampConfig{}).empty());
  CHECK(problem([](RampConfig& c) {
          c.topology = {4, 0, 2};
        }) == "topology: every dimension must be at least 1");
  CHECK(problem([](RampConfig& c) {
          c.topology = {2, 4, 2};
        }) ==
        "topology: 4 racks per group do not fit 2 communication groups (RAMP needs racks <= "
        "groups)");
  CHECK(problem([](RampConfig& c) {
          c.topology = {17, 17, 17};
        }) == "topology: more than 4096 servers");
  constexpr int kMost = std::numeric_limits<int>::max();
  CHECK(problem([](RampConfig& c) {
          c.topology = {kMost, kMost, kMost};
        }) == "topology: more than 4096 servers");
  for (const int channels : {0, 2}) {
    CHECK(problem([=](RampConfig& c) { c.num_channels = channels; }) ==
          "num_channels: must be 1, the one that is simulated");
  }
  CHECK(problem([](RampConfig& c) { c.total_node_bandwidth = 0; }) ==
        "total_node_bandwidth: must be > 0 and at most 1e24");
  CHECK(problem([](RampConfig& c) { c.worker_memory = kInf; }) ==
        "worker_memory: must be > 0 and at most 1e24");
  CHECK(problem([](RampConfig& c) { c.propagation_latency = -1; }) ==
        "propagation_latency: must be from 0 to 1e6");
  CHECK(problem([](RampConfig& c) { c.worker_io_latency = std::nan(""); }) ==
        "worker_io_latency: must be from 0 to 1e6");
}

}  // namespace
}  // namespace pacml::env
