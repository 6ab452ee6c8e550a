#include <vector>

#include "common/rng.h"
#include "replay/table.h"
#include "tests/fuzz/replay/snapshot_target.h"
#include "tests/support/block_list.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"

// Every build runs the corpus, snapshots, and seeded damages to them, through the fuzz target.

namespace pacml {
namespace {

// Of a table after so many inserts, some of which are drawn and updated.
Bytes snapshot_after(int inserts) {
  replay::Table table(fuzz::snapshot_config(), Seed{1});
  std::vector<replay::SampledItem> drawn(5);
  for (int i = 0; i < inserts; ++i) {
    REQUIRE(table.insert(Bytes(static_cast<std::size_t>(i % 40)), i).has_value());
    if (i % 4 == 0) static_cast<void>(table.sample(drawn));
  }
  testing::BlockList blocks;
  table.begin_snapshot(Bytes(7), blocks);
  while (!table.advance_snapshot(4)) {
  }
  return fuzz::flatten(blocks.blocks);
}

TEST_CASE("reading a snapshot survives its corpus and damages to it", "[fuzz][replay]") {
  std::vector<Bytes> inputs = testing::read_corpus("tests/fuzz/replay/corpus/snapshot");
  REQUIRE_FALSE(inputs.empty());
  for (const Bytes& input : inputs) fuzz::snapshot(input);
  for (const int inserts : {0, 1, 5, 30, 100}) {
    inputs.push_back(snapshot_after(inserts));
    REQUIRE(fuzz::snapshot(inputs.back()));
  }
  Rng rng(Seed{2});
  int read = 0;
  constexpr int kRounds = 40'000;
  for (int round = 0; round < kRounds; ++round) {
    const Bytes& input = inputs[rng.below(inputs.size())];
    read += fuzz::snapshot(testing::damaged(input, inputs[rng.below(inputs.size())], rng)) ? 1 : 0;
  }
  CHECK(read > 0);  // some mutations are as good as the original
  CHECK(read < kRounds);
}

}  // namespace
}  // namespace pacml
