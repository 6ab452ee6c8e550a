#include "replay/server_state.h"

#include <vector>

#include "common/rng.h"
#include "common/wire/graph_hash.h"
#include "tests/fuzz/replay/server_state_target.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"
#include "tests/support/wire_samples.h"

// Every build runs the corpus, and seeded damages to it, through the fuzz target.

namespace pacml {
namespace {

Bytes random_state(Rng& rng) {
  replay::ServerState state;
  if (rng.below(4) > 0) state.shape = testing::random_shape(rng);
  for (std::uint64_t left = rng.below(4); left > 0; --left) {
    wire::Graph graph = testing::random_graph(rng);
    graph.hash = wire::hash_graph(graph);
    REQUIRE(state.graphs.add(std::move(graph)));
  }
  for (std::uint32_t actor = 0; actor < rng.below(5); ++actor) {
    state.accepted.entries.push_back(
        {ActorId{actor}, Incarnation{1 + rng.below(9)}, Sequence{rng.below(100)}});
  }
  state.accepted.accepted = rng.below(1000);
  return replay::encode_server_state(state);
}

TEST_CASE("reading a shard's state survives its corpus and damages to it", "[fuzz][replay]") {
  std::vector<Bytes> inputs = testing::read_corpus("tests/fuzz/replay/corpus/server_state");
  REQUIRE_FALSE(inputs.empty());
  for (const Bytes& input : inputs) fuzz::server_state(input);
  Rng rng(Seed{1});
  for (int i = 0; i < 10; ++i) {
    inputs.push_back(random_state(rng));
    REQUIRE(fuzz::server_state(inputs.back()));
  }
  int read = 0;
  constexpr int kRounds = 30'000;
  for (int round = 0; round < kRounds; ++round) {
    const Bytes& input = inputs[rng.below(inputs.size())];
    read +=
        fuzz::server_state(testing::damaged(input, inputs[rng.below(inputs.size())], rng)) ? 1 : 0;
  }
  CHECK(read > 0);  // a changed count is as good as the original
  CHECK(read < kRounds);
}

}  // namespace
}  // namespace pacml
