#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "common/atomic_file.h"
#include "common/rng.h"
#include "common/wire/codec.h"
#include "tests/fuzz/common/targets.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/wire_samples.h"

// Every build runs the corpus, and seeded mutations of it, through the fuzz targets: a crash that a
// fuzzer once found stays found.

namespace pacml {
namespace {

namespace fs = std::filesystem;

std::vector<Bytes> corpus(const std::string& name) {
  std::vector<fs::path> paths;
  for (const auto& entry :
       fs::directory_iterator(testing::source_path("tests/fuzz/common/corpus/" + name))) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> inputs;
  for (const fs::path& path : paths) {
    const auto text = read_file(path);
    REQUIRE(text.has_value());
    const auto bytes = std::as_bytes(std::span(text->data(), text->size()));
    inputs.emplace_back(bytes.begin(), bytes.end());
  }
  return inputs;
}

// One to four small damages; `other` lends a piece of itself.
Bytes mutated(Bytes bytes, const Bytes& other, Rng& rng) {
  for (std::uint64_t left = 1 + rng.below(4); left > 0; --left) {
    const std::size_t at = rng.below(bytes.size() + 1);
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (rng.below(5)) {
      case 0:
        if (here != bytes.end()) *here ^= std::byte(1U << rng.below(8));
        break;
      case 1:
        if (here != bytes.end()) *here = std::byte(rng.below(256));
        break;
      case 2:
        bytes.insert(here, 1 + rng.below(4), std::byte(rng.below(256)));
        break;
      case 3:
        bytes.erase(here, here + static_cast<std::ptrdiff_t>(rng.below(
                                     static_cast<std::uint64_t>(bytes.end() - here) + 1)));
        break;
      default:
        if (!other.empty()) {
          const auto from = other.begin() + static_cast<std::ptrdiff_t>(rng.below(other.size()));
          bytes.insert(here, from, from + std::min<std::ptrdiff_t>(8, other.end() - from));
        }
    }
  }
  return bytes;
}

void run_mutations(const std::vector<Bytes>& inputs, bool (*target)(std::span<const std::byte>),
                   Seed seed, int rounds) {
  Rng rng(seed);
  for (int round = 0; round < rounds; ++round) {
    for (const Bytes& input : inputs) {
      target(mutated(input, inputs[rng.below(inputs.size())], rng));
    }
  }
}

TEST_CASE("the frame decoder survives its corpus and mutations of it", "[fuzz][wire]") {
  std::vector<Bytes> inputs = corpus("frame");
  REQUIRE_FALSE(inputs.empty());
  for (const Bytes& input : inputs) fuzz::frame(input);
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

}  // namespace
}  // namespace pacml
