#include "env/placement/families.h"

#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

TEST_CASE("the stream that graphs are drawn from is splitmix64", "[unit][placement]") {
  SplitMix words(0);
  CHECK(words.next() == 0xe220a8397b1dcdafULL);
  CHECK(words.next() == 0x6e789e6aa1b965f4ULL);
  SplitMix digits(0);
  std::vector<std::uint64_t> below;
  for (int i = 0; i < 10; ++i) below.push_back(digits.below(10));
  CHECK(below == std::vector<std::uint64_t>{8, 4, 0, 9, 1, 3, 1, 7, 2, 9});
  SplitMix units(0);
  CHECK(units.unit() == 0.8833108082136426);
}

// Numbers of an independent implementation.
TEST_CASE("a family's graphs are the same everywhere", "[unit][placement]") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> fingerprints = {
      {"branch", {"329cd1cc6109f920", "98d72d5b20430f9e", "6f6d8dc933a69da8"}},
      {"cell", {"82471452929cd46e", "8dcfdd4538d85109", "8b6f1d6163f6cf46"}},
      {"grid", {"cb931b3e77672799", "b5fd03d22fb822c5", "4c9904f9855e60b9"}},
      {"layered", {"f3267885b2720092", "6d31f928eed18781", "7c4f8e0edd62037f"}}};
  for (const auto& [family, numbers] : fingerprints) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      INFO(family << " " << i);
      CHECK(fingerprint(family_graph(family, i)) == numbers[i]);
    }
  }
  CHECK_THROWS_WITH(family_graph("brench", 0), Catch::Contains("did you mean 'branch'?"));
}

TEST_CASE("plain graphs have the shape that they are called by", "[unit][placement]") {
  const OpGraphSpec chain = chain_graph(4, 3, 5, 2);
  CHECK(chain.ops.size() == 14);
  CHECK(chain.edges.size() == 15);
  CHECK(chain.ops[7].cost_us == 5);
  const OpGraphSpec crown = crown_graph(4, 3, 1, 0.5);
  CHECK(crown.ops.size() == 13);
  CHECK(crown.edges.size() == 3 * 3 + 2 * 4 + 4);
  const OpGraphSpec pairs = pairs_graph(5, 1, 1);
  CHECK(pairs.ops.size() == 10);
  CHECK(pairs.edges.size() == 5);
}

}  // namespace
}  // namespace pacml::env
