#include <vector>

#include "common/rng.h"
#include "tests/fuzz/decide/targets.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"

// Every build runs the corpus, and seeded damages to it, through the fuzz target: a crash that a
// fuzzer once found stays found.

namespace pacml {
namespace {

TEST_CASE("the reader of requests for decisions survives its corpus and damages to it",
          "[fuzz][decide]") {
  const std::vector<Bytes> inputs = testing::read_corpus("tests/fuzz/decide/corpus/request");
  REQUIRE_FALSE(inputs.empty());
  for (const Bytes& input : inputs) REQUIRE(fuzz::request(input));
  Rng rng(Seed{1});
  int read = 0;
  constexpr int kRounds = 20'000;
  for (int round = 0; round < kRounds; ++round) {
    const Bytes& input = inputs[rng.below(inputs.size())];
    const Bytes& other = inputs[rng.below(inputs.size())];
    read += fuzz::request(testing::damaged(input, other, rng)) ? 1 : 0;
  }
  CHECK(read > 0);  // another digit is as good
  CHECK(read < kRounds);
}

}  // namespace
}  // namespace pacml
