#include <bit>
#include <cmath>
#include <string>

#include "common/config/diff.h"
#include "common/config/dump.h"
#include "common/rng.h"
#include "tests/support/catch.h"
#include "tests/support/sample_config.h"

namespace pacml {
namespace {

using testing::InnerConfig;
using testing::SampleConfig;

double random_double(Rng& rng) {
  while (true) {
    const double value = std::bit_cast<double>(rng.next());
    if (!std::isnan(value)) return value;
  }
}

// Printable ASCII, line breaks and tabs, with a taste for what means something to YAML.
std::string random_text(Rng& rng) {
  constexpr std::string_view kAwkward = "\n\t\\\"':#-[]{},&*!|>%@`~? ";
  std::string text;
  for (std::uint64_t left = rng.below(12); left > 0; --left) {
    text += rng.below(2) == 0 ? kAwkward[rng.below(kAwkward.size())]
                              : static_cast<char>(' ' + static_cast<char>(rng.below(95)));
  }
  return text;
}

InnerConfig random_inner(Rng& rng) {
  return {static_cast<int>(rng.next() >> 33), -std::abs(random_double(rng))};
}

SampleConfig random_config(Rng& rng) {
  SampleConfig c;
  c.flag = rng.below(2) == 0;
  c.count = static_cast<int>(rng.next());
  c.small = static_cast<std::uint8_t>(rng.next());
  c.wide = static_cast<std::int64_t>(rng.next());
  c.unsigned_wide = rng.next();
  c.number = random_double(rng);
  c.text = random_text(rng);
  c.colour = rng.below(2) == 0 ? testing::Colour::kRed : testing::Colour::kDarkBlue;
  c.seed = Seed{rng.next()};
  c.list.clear();
  for (std::uint64_t left = rng.below(4); left > 0; --left) c.list.push_back(random_double(rng));
  if (rng.below(2) == 0) c.maybe = static_cast<int>(rng.next());
  c.table.clear();
  for (std::uint64_t left = rng.below(4); left > 0; --left) {
    c.table[random_text(rng)] = static_cast<int>(rng.next());
  }
  c.inner = random_inner(rng);
  for (std::uint64_t left = rng.below(3); left > 0; --left) c.inners.push_back(random_inner(rng));
  for (std::uint64_t left = rng.below(3); left > 0; --left) {
    c.named[random_text(rng)] = random_inner(rng);
  }
  return c;
}

TEST_CASE("any configuration reads back equal from its dump", "[property][config]") {
  const auto seed = GENERATE(range(0, 300));
  INFO("seed " << seed);
  Rng rng(Seed{static_cast<std::uint64_t>(seed)});
  const SampleConfig config = random_config(rng);
  const std::string text = dump_config(config);
  INFO(text);
  const auto again = read_config<SampleConfig>(ConfigSource::from_text("dump", text));
  REQUIRE(again == config);
  REQUIRE(dump_config(again) == text);
  REQUIRE(config_differences(text, text).empty());
}

}  // namespace
}  // namespace pacml
