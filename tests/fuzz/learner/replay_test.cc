#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "common/atomic_file.h"
#include "common/rng.h"
#include "tests/fuzz/learner/targets.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

// Every build runs the corpus, and seeded damages to it, through the fuzz target: a crash that a
// fuzzer once found stays found.

namespace pacml {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus() {
  std::vector<fs::path> paths;
  for (const auto& entry :
       fs::directory_iterator(testing::source_path("tests/fuzz/learner/corpus/safetensors"))) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> inputs;
  for (const fs::path& path : paths) {
    const auto bytes = read_file(path);
    REQUIRE(bytes);
    inputs.push_back(*bytes);
  }
  return inputs;
}

TEST_CASE("the safetensors decoder survives its corpus and damages to it", "[fuzz][learner]") {
  const std::vector<std::string> inputs = corpus();
  REQUIRE_FALSE(inputs.empty());
  REQUIRE(std::ranges::any_of(inputs, [](const auto& bytes) { return fuzz::safetensors(bytes); }));
  Rng rng(Seed{1});
  for (const std::string& input : inputs) {
    fuzz::safetensors(input);
    for (int round = 0; round < 2000 && !input.empty(); ++round) {
      std::string damaged = input;
      for (std::uint64_t left = 1 + rng.below(4); left > 0; --left) {
        damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
      }
      damaged.resize(damaged.size() - rng.below(4) % damaged.size());
      fuzz::safetensors(damaged);
    }
  }
}

}  // namespace
}  // namespace pacml
