#include <algorithm>

#include "tests/fuzz/launch/targets.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"

namespace pacml {

TEST_CASE("the list of hosts survives its corpus and damages to it", "[fuzz][launch]") {
  const auto inputs = testing::read_corpus("tests/fuzz/launch/corpus/hostfile");
  const auto accepted =
      std::ranges::count_if(inputs, [](const Bytes& b) { return fuzz::hostfile(b); });
  CHECK(accepted >= 3);
  CHECK(accepted < static_cast<std::ptrdiff_t>(inputs.size()));
  Rng rng(Seed{1});
  for (int round = 0; round < 3000; ++round) {
    for (const Bytes& input : inputs) {
      fuzz::hostfile(testing::damaged(input, inputs[rng.below(inputs.size())], rng));
    }
  }
}

}  // namespace pacml
