#include <cstdint>
#include <string>
#include <vector>

#include "common/rng.h"
#include "model/parameters_io.h"
#include "tests/fuzz/model/targets.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"

// Every build runs the corpus, and seeded damages to it, through the fuzz target: a crash that a
// fuzzer once found stays found.

namespace pacml {
namespace {

// A file without its closing hash, which the target adds.
Bytes parameter_file(std::uint64_t version) {
  const auto& layout = fuzz::parameters_layout();
  model::Parameters parameters{PolicyVersion{version}, layout.hash, {}};
  parameters.values.assign(static_cast<std::size_t>(layout.total), 0.5F);
  const std::string file = encode_parameters(parameters, layout);
  const auto bytes = std::as_bytes(std::span(file.data(), file.size() - sizeof(std::uint64_t)));
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("the parameter file's reader survives its corpus and damages to it", "[fuzz][model]") {
  std::vector<Bytes> inputs = testing::read_corpus("tests/fuzz/model/corpus/parameters");
  REQUIRE_FALSE(inputs.empty());
  for (const Bytes& input : inputs) fuzz::parameters(input);
  inputs.push_back(parameter_file(7));
  REQUIRE(fuzz::parameters(inputs.back()));
  Rng rng(Seed{1});
  int read = 0;
  constexpr int kRounds = 20'000;
  for (int round = 0; round < kRounds; ++round) {
    const Bytes& input = inputs[rng.below(inputs.size())];
    read += fuzz::parameters(testing::damaged(input, inputs.back(), rng)) ? 1 : 0;
  }
  CHECK(read > 0);  // a changed weight is as good as the original
  CHECK(read < kRounds);
}

}  // namespace
}  // namespace pacml
