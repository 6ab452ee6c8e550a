#include <algorithm>

#include "tests/fuzz/http/targets.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"

namespace pacml {

TEST_CASE("the pages of a role survive their corpus and damages to it", "[fuzz][http]") {
  const auto inputs = testing::read_corpus("tests/fuzz/http/corpus/request");
  const auto shown =
      std::ranges::count_if(inputs, [](const Bytes& b) { return fuzz::http_request(b); });
  CHECK(shown >= 5);
  CHECK(shown < static_cast<std::ptrdiff_t>(inputs.size()));
  Rng rng(Seed{1});
  for (int round = 0; round < 30; ++round) {
    for (const Bytes& input : inputs) {
      fuzz::http_request(testing::damaged(input, inputs[rng.below(inputs.size())], rng));
    }
  }
}

}  // namespace pacml
