#include "replay/server_state.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "common/atomic_file.h"
#include "common/rng.h"
#include "common/wire/graph_hash.h"
#include "tests/fuzz/replay/server_state_target.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"
#include "tests/support/golden.h"
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

constexpr const char* kCorpus = "tests/fuzz/replay/corpus/server_state";

void write_corpus() {
  Rng rng(Seed{2});
  for (int i = 0; i < 4; ++i) {
    const Bytes state = random_state(rng);
    const std::string text(reinterpret_cast<const char*>(state.data()), state.size());
    const auto file = testing::source_path(kCorpus) / (std::to_string(i) + ".bin");
    REQUIRE(write_file_atomically(file, text));
  }
}

// Where a fuzzer begins with what nobody reads any more, it does not come far.
TEST_CASE("the corpus of shards' states is of the present protocol", "[fuzz][replay]") {
  if (std::getenv("PACML_UPDATE_GOLDEN") != nullptr) write_corpus();
  INFO("PACML_UPDATE_GOLDEN=1 writes " << kCorpus << " anew");
  const std::vector<Bytes> inputs = testing::read_corpus(kCorpus);
  REQUIRE_FALSE(inputs.empty());
  for (const Bytes& input : inputs) REQUIRE(fuzz::server_state(input));
}

TEST_CASE("reading a shard's state survives its corpus and damages to it", "[fuzz][replay]") {
  std::vector<Bytes> inputs = testing::read_corpus(kCorpus);
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
