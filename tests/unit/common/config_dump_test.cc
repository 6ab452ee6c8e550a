#include <limits>
#include <string>

#include "common/config/dump.h"
#include "tests/support/catch.h"
#include "tests/support/sample_config.h"

namespace pacml {
namespace {

using testing::SampleConfig;

SampleConfig reread(const SampleConfig& config) {
  return read_config<SampleConfig>(ConfigSource::from_text("dump", dump_config(config)));
}

TEST_CASE("a dump is plain, complete YAML", "[config]") {
  SampleConfig config;
  config.inners = {{.size = 1}};
  REQUIRE(dump_config(config) == R"(flag: false
count: 1
small: 2
wide: -3
unsigned_wide: 4
number: 1.5
pause: 0.25
text: plain
colour: red
seed: 7
list: [1, 2]
pair: [1, 2]
maybe: null
table:
  a: 1
inner:
  size: 3
  rate: 0.5
inners:
  - size: 1
    rate: 0.5
named: {}
)");
}

TEST_CASE("awkward texts survive a dump", "[config]") {
  for (const std::string text :
       {"",         "true",     "Null", "~",         "5",         "1e3",        "- a",
        "a: b",     "# no",     "it's", "say \"x\"", "tab\there", "two\nlines", "back\\slash",
        " spaces ", "\xC3\xBC", "*x",   "&x",        "!x",        "%x",         "@"}) {
    SampleConfig config;
    config.text = text;
    config.table = {{text, 1}};
    INFO("text: " << text);
    REQUIRE(reread(config) == config);
  }
}

TEST_CASE("awkward numbers survive a dump", "[config]") {
  using Limits = std::numeric_limits<double>;
  for (const double number : {0.1, 1.0 / 3.0, 1e300, Limits::denorm_min(), Limits::max(), -0.0,
                              Limits::infinity(), -Limits::infinity(), 1e21, 123456789.0}) {
    SampleConfig config;
    config.number = number;
    INFO("number: " << number);
    REQUIRE(reread(config) == config);
    REQUIRE(std::signbit(reread(config).number) == std::signbit(number));
  }
}

TEST_CASE("equal configurations hash alike, different ones do not", "[config]") {
  SampleConfig a;
  SampleConfig b;
  REQUIRE(config_hash(a) == config_hash(b));
  b.inner.rate = 0.25;
  REQUIRE(config_hash(a) != config_hash(b));
  REQUIRE(config_hash(a.inner) != config_hash(b.inner));
  b.inner = a.inner;
  b.count = 9;
  REQUIRE(config_hash(a.inner) == config_hash(b.inner));
}

}  // namespace
}  // namespace pacml
