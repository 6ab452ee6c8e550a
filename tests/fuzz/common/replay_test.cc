#include <algorithm>
#include <string>
#include <vector>

#include "common/rng.h"
#include "common/wire/codec.h"
#include "tests/fuzz/common/targets.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"
#include "tests/support/wire_samples.h"

// Every build runs the corpus, and seeded mutations of it, through the fuzz targets: a crash that a
// fuzzer once found stays found.

namespace pacml {
namespace {

std::vector<Bytes> corpus(const std::string& name) {
  return testing::read_corpus("tests/fuzz/common/corpus/" + name);
}

void run_mutations(const std::vector<Bytes>& inputs, bool (*target)(std::span<const std::byte>),
                   Seed seed, int rounds) {
  Rng rng(seed);
  for (int round = 0; round < rounds; ++round) {
    for (const Bytes& input : inputs) {
      target(testing::damaged(input, inputs[rng.below(inputs.size())], rng));
    }
  }
}

TEST_CASE("the frame decoder survives its corpus and mutations of it", "[fuzz][wire]") {
  std::vector<Bytes> inputs = corpus("frame");
  REQUIRE_FALSE(inputs.empty());
  const auto read = std::count_if(inputs.begin(), inputs.end(),
                                  [](const Bytes& input) { return fuzz::frame(input); });
  REQUIRE(read > 0);  // none of a former protocol's
  Rng rng(Seed{1});
  for (std::size_t type = 0; type < std::variant_size_v<wire::Message>; ++type) {
    inputs.push_back(testing::flatten(wire::encode(testing::random_message(rng, type))));
    REQUIRE(fuzz::frame(inputs.back()));
  }
  run_mutations(inputs, fuzz::frame, Seed{2}, 1500);
}

TEST_CASE("the configuration reader survives its corpus and mutations of it", "[fuzz][config]") {
  const std::vector<Bytes> inputs = corpus("config");
  REQUIRE_FALSE(inputs.empty());
  const auto read = std::count_if(inputs.begin(), inputs.end(),
                                  [](const Bytes& input) { return fuzz::config(input); });
  REQUIRE(read > 0);
  run_mutations(inputs, fuzz::config, Seed{3}, 500);
}

TEST_CASE("the readers of keys and of allowed clients survive their corpus and mutations of it",
          "[fuzz][security]") {
  const std::vector<Bytes> inputs = corpus("keys");
  REQUIRE_FALSE(inputs.empty());
  const auto read = std::count_if(inputs.begin(), inputs.end(),
                                  [](const Bytes& input) { return fuzz::keys(input); });
  REQUIRE(read > 0);
  run_mutations(inputs, fuzz::keys, Seed{4}, 1500);
}

}  // namespace
}  // namespace pacml
