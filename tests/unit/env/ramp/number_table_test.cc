#include "env/ramp/number_table.h"

#include <cstdint>
#include <map>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

TEST_CASE("a table finds what it was given, by any numbers", "[env][ramp]") {
  // Dense ones, strided ones, random ones.
  const std::uint64_t stride = GENERATE(std::uint64_t{1}, std::uint64_t{1} << 32, std::uint64_t{0});
  Rng rng(Seed{1});
  NumberTable<int> table;
  std::map<std::uint64_t, int> expected;
  for (int i = 0; i < 5'000; ++i) {
    const std::uint64_t number = stride > 0 ? stride * rng.below(3'000) : rng.next() >> 52;
    const auto known = expected.find(number);
    REQUIRE(table[number] == (known == expected.end() ? 0 : known->second));
    table[number] = expected[number] = i + 1;
    REQUIRE(table.size() == expected.size());
  }
  for (const auto& [number, value] : expected) REQUIRE(table[number] == value);
  CHECK(table.bytes() >= 2 * table.size() * (sizeof(std::uint64_t) + sizeof(int)));
  table.clear();
  CHECK(table.size() == 0);
  CHECK(table.bytes() == 0);
  CHECK(table[expected.begin()->first] == 0);
}

}  // namespace
}  // namespace pacml::env
