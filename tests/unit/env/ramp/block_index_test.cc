#include "env/ramp/block_index.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

using Block = std::set<Server>;

std::set<Block> blocks_of(const Topology& topology, int size) {
  std::set<Block> blocks;
  const auto list = topology.blocks(size);
  for (std::size_t begin = 0; begin < list.size(); begin += static_cast<std::size_t>(size)) {
    const auto block = list.subspan(begin, static_cast<std::size_t>(size));
    blocks.emplace(block.begin(), block.end());
  }
  return blocks;
}

TEST_CASE("the blocks of the paper's cluster are as many as its research counts", "[env][ramp]") {
  const Topology topology({4, 4, 2}, 16);
  const BlockIndex index(topology, std::array{2, 4, 6, 8, 16});
  const std::array<std::uint32_t, 5> counts = {82, 40, 20, 19, 2};
  REQUIRE(index.num_sizes() == counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) CHECK(index.count(i) == counts[i]);
}

TEST_CASE("a size that is no degree has no blocks", "[env][ramp]") {
  // Six servers of one rack find a place there, but two racks of eight groups cannot be cut so.
  const Topology topology({8, 2, 2}, 8);
  REQUIRE_FALSE(topology.has_block_shape(6));
  REQUIRE_FALSE(topology.blocks(6).empty());
  const BlockIndex index(topology, std::array{4, 6, 8});
  CHECK(index.count(0) > 0);
  CHECK(index.count(1) == 0);
  CHECK(index.count(2) > 0);
  std::vector<BlockIndex::Word> none(index.words());
  CHECK(index.count_free(1, none, none) == 0);
}

TEST_CASE("a block is free as long as none of its servers is taken", "[env][ramp]") {
  const auto shape = GENERATE(std::array{4, 4, 2}, std::array{3, 2, 5}, std::array{5, 4, 6});
  const Topology topology(shape, 8);
  const std::vector<int> sizes = {2, 4, 6, 8};
  const BlockIndex index(topology, sizes);
  Rng rng(Seed{1});
  for (int round = 0; round < 50; ++round) {
    // Some of the one, some of the other.
    std::array<std::vector<BlockIndex::Word>, 2> taken;
    std::array<ServerSet, 2> servers;
    for (std::size_t set = 0; set < 2; ++set) {
      taken[set].resize(index.words());
      servers[set] = ServerSet(topology.num_servers());
      for (int server = 0; server < topology.num_servers(); ++server) {
        if (rng.below(50) >= static_cast<std::uint64_t>(round)) continue;
        servers[set].insert(static_cast<Server>(server));
        index.take(static_cast<Server>(server), taken[set]);
      }
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto blocks =
          topology.has_block_shape(sizes[i]) ? blocks_of(topology, sizes[i]) : std::set<Block>{};
      REQUIRE(index.count(i) == blocks.size());
      const auto free = std::ranges::count_if(blocks, [&](const Block& block) {
        return std::ranges::none_of(block, [&](Server server) {
          return servers[0].contains(server) || servers[1].contains(server);
        });
      });
      REQUIRE(index.count_free(i, taken[0], taken[1]) == free);
    }
  }
}

TEST_CASE("the servers of a set come in turn", "[env][ramp]") {
  ServerSet set(130);
  const std::vector<Server> members = {0, 5, 63, 64, 128, 129};
  for (const Server server : members) set.insert(server);
  std::vector<Server> seen;
  set.for_each([&](Server server) { seen.push_back(server); });
  CHECK(seen == members);
}

}  // namespace
}  // namespace pacml::env
