#include <cmath>
#include <string>

#include "common/config/reader.h"
#include "tests/support/catch.h"
#include "tests/support/sample_config.h"

namespace pacml {
namespace {

using testing::Colour;
using testing::SampleConfig;

SampleConfig read(std::string_view text) {
  return read_config<SampleConfig>(ConfigSource::from_text("x.yaml", text));
}

std::string problem(std::string_view text) {
  try {
    static_cast<void>(read(text));
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

TEST_CASE("what is absent keeps its default", "[config]") {
  REQUIRE(read("") == SampleConfig{});
  REQUIRE(read("inner:\n") == SampleConfig{});
  REQUIRE(read("inner: {size: 9}").inner.rate == 0.5);
}

TEST_CASE("every kind of field is read", "[config]") {
  const SampleConfig c = read(R"(
flag: true
count: -5
small: 255
wide: -9223372036854775808
unsigned_wide: 18446744073709551615
number: -2.5e-3
pause: 1.5
text: "true: or # not"
colour: dark_blue
seed: 42
list: [1, 2.5, .inf]
pair: [3, 4]
maybe: 6
table: {x: 1, y: 2}
inner: {size: 8, rate: 1}
inners: [{size: 1}, {}]
named: {first: {rate: 0}}
)");
  REQUIRE(c.flag);
  REQUIRE(c.count == -5);
  REQUIRE(c.small == 255);
  REQUIRE(c.wide == INT64_MIN);
  REQUIRE(c.unsigned_wide == UINT64_MAX);
  REQUIRE(c.number == -2.5e-3);
  REQUIRE(c.pause == 1.5);
  REQUIRE(c.text == "true: or # not");
  REQUIRE(c.colour == Colour::kDarkBlue);
  REQUIRE(c.seed == Seed{42});
  REQUIRE(c.list == std::vector<double>{1, 2.5, INFINITY});
  REQUIRE(c.pair == std::array<int, 2>{3, 4});
  REQUIRE(c.maybe == 6);
  REQUIRE(c.table == std::map<std::string, int>{{"x", 1}, {"y", 2}});
  REQUIRE(c.inner.size == 8);
  REQUIRE(c.inners.size() == 2);
  REQUIRE(c.inners[0].size == 1);
  REQUIRE(c.inners[1].size == 3);
  REQUIRE(c.named.at("first").rate == 0);
}

TEST_CASE("null empties an optional", "[config]") {
  REQUIRE_FALSE(read("maybe: null").maybe.has_value());
  REQUIRE_FALSE(read("maybe: ~").maybe.has_value());
}

TEST_CASE("integers may be written as whole numbers of any notation", "[config]") {
  REQUIRE(read("wide: 1e6").wide == 1'000'000);
  REQUIRE(read("wide: 2.5e3").wide == 2'500);
  REQUIRE(read("wide: +7").wide == 7);
  REQUIRE(read("wide: 32.0").wide == 32);
  REQUIRE_THAT(problem("wide: 2.5"), Catch::Contains("expected an integer"));
  REQUIRE_THAT(problem("wide: 1e300"), Catch::Contains("expected an integer"));
}

TEST_CASE("numbers out of range are refused with the range", "[config]") {
  REQUIRE(problem("small: 256") ==
          "x.yaml:1: small: expected an integer from 0 to 255, found '256'");
  REQUIRE(problem("small: -1") == "x.yaml:1: small: expected an integer from 0 to 255, found '-1'");
  REQUIRE_THAT(problem("count: 2147483648"), Catch::Contains("to 2147483647"));
  REQUIRE_THAT(problem("count: 1e10"), Catch::Contains("to 2147483647"));
  REQUIRE_THAT(problem("wide: 9223372036854775808"), Catch::Contains("9223372036854775807"));
  REQUIRE_THAT(problem("unsigned_wide: 18446744073709551616"), Catch::Contains("found"));
  REQUIRE_THAT(problem("seed: -1"), Catch::Contains("from 0 to 18446744073709551615"));
  REQUIRE_THAT(problem("number: 1e400"), Catch::Contains("expected a number"));
}

TEST_CASE("seconds that no clock can count are refused", "[config]") {
  CHECK(read("pause: 0").pause == 0);
  CHECK(read("pause: 1e8").pause == 1e8);
  for (const std::string absurd : {".inf", "-.inf", ".nan", "-1", "1e10", "1e30", "soon", "'5'"}) {
    INFO(absurd);
    CHECK_THAT(problem("pause: " + absurd),
               Catch::StartsWith("x.yaml:1: pause: expected seconds, from 0 to 1e8 (three years)"));
  }
}

TEST_CASE("a wrong type names the line, the key, what was expected and what was found",
          "[config]") {
  REQUIRE(problem("flag: 1") == "x.yaml:1: flag: expected true or false, found '1'");
  REQUIRE(problem("flag: yes") == "x.yaml:1: flag: expected true or false, found 'yes'");
  REQUIRE(problem("count: '5'") ==
          "x.yaml:1: count: expected an integer, found the quoted "
          "text '5'");
  REQUIRE(problem("\n\nnumber: fast") == "x.yaml:3: number: expected a number, found 'fast'");
  REQUIRE(problem("number: .nan") == "x.yaml:1: number: expected a number, found '.nan'");
  REQUIRE(problem("number: nan") == "x.yaml:1: number: expected a number, found 'nan'");
  REQUIRE(problem("number: inf") == "x.yaml:1: number: expected a number, found 'inf'");
  REQUIRE(problem("number: 0x10") == "x.yaml:1: number: expected a number, found '0x10'");
  REQUIRE(problem("number:") == "x.yaml:1: number: expected a number, found nothing");
  REQUIRE(problem("text: [a]") == "x.yaml:1: text: expected text, found a list");
  REQUIRE(problem("list: 3") == "x.yaml:1: list: expected a list, found '3'");
  REQUIRE(problem("list: [1, x]") == "x.yaml:1: list[1]: expected a number, found 'x'");
  REQUIRE(problem("pair: [1, 2, 3]") == "x.yaml:1: pair: expected a list of 2, found one of 3");
  REQUIRE(problem("inner: 3") == "x.yaml:1: inner: expected a map of keys and values, found '3'");
  REQUIRE(problem("table: [a]") ==
          "x.yaml:1: table: expected a map of keys and values, found a list");
  REQUIRE(problem("maybe: x") == "x.yaml:1: maybe: expected an integer, found 'x'");
  REQUIRE(problem("- a\n- b\n") == "x.yaml:1: expected a map of keys and values, found a list");
}

TEST_CASE("whoever sets an element of a list that is not written is told how a list is set",
          "[config]") {
  const std::string override_of_element = "inners.0.size=3";
  const auto source = ConfigSource::from_text("x.yaml", "flag: true", {&override_of_element, 1});
  CHECK_THROWS_WITH(read_config<SampleConfig>(source),
                    "--set inners.0.size=3: inners: expected a list, which is set whole: --set "
                    "'inners=[...]'");
}

TEST_CASE("an unknown key names its path and the nearest key beside it", "[config]") {
  REQUIRE(problem("a: 1\ncont: 2\n").find("x.yaml:2: unknown key 'cont'; did you mean 'count'?") !=
          std::string::npos);
  REQUIRE(problem("inner:\n  sise: 2\n") ==
          "x.yaml:2: unknown key 'inner.sise'; did you mean 'size'?");
  REQUIRE(problem("inners:\n  - {sze: 2}\n") ==
          "x.yaml:2: unknown key 'inners[0].sze'; did you mean 'size'?");
}

TEST_CASE("an unknown name lists the known ones", "[config]") {
  REQUIRE(problem("colour: darkblue") ==
          "x.yaml:1: colour: expected one of red, dark_blue; found 'darkblue'; did you mean "
          "'dark_blue'?");
  REQUIRE_THAT(problem("colour: [red]"), Catch::EndsWith("found a list"));
}

TEST_CASE("all problems are reported together", "[config]") {
  REQUIRE(problem("flag: 1\ncount: x\ncolor: 1\n") ==
          "x.yaml:1: flag: expected true or false, found '1'\n"
          "x.yaml:2: count: expected an integer, found 'x'\n"
          "x.yaml:3: unknown key 'color'; did you mean 'colour'?");
}

TEST_CASE("validation reaches nested structs and names the place of the key", "[config]") {
  REQUIRE(problem("inner:\n  size: -1\n  rate: 2\n") ==
          "x.yaml:2: inner: size must be at least 0\n"
          "x.yaml:3: inner: rate must be at most 1");
  REQUIRE(problem("inners:\n  - {}\n  - {size: -1}\n") ==
          "x.yaml:3: inners[1]: size must be at least 0");
  REQUIRE(problem("named:\n  a: {rate: 3}\n") == "x.yaml:2: named.a: rate must be at most 1");
}

TEST_CASE("a long value is cut in the message", "[config]") {
  const std::string message = problem("count: " + std::string(5000, 'x'));
  REQUIRE(message.size() < 200);
}

TEST_CASE("overrides are read like the file and named in problems", "[config]") {
  const std::vector<std::string> overrides = {"inner.size=11", "list=[5]"};
  const auto source = ConfigSource::from_text("x.yaml", "inner: {size: 1}", overrides);
  const auto config = read_config<SampleConfig>(source);
  REQUIRE(config.inner.size == 11);
  REQUIRE(config.list == std::vector<double>{5});
  const std::vector<std::string> wrong = {"inner.sise=11"};
  REQUIRE_THROWS_WITH(read_config<SampleConfig>(ConfigSource::from_text("x.yaml", "", wrong)),
                      "--set inner.sise=11: unknown key 'inner.sise'; did you mean 'size'?");
  const std::vector<std::string> refused = {"inner.rate=2"};
  REQUIRE_THROWS_WITH(
      read_config<SampleConfig>(ConfigSource::from_text("x.yaml", "inner: {size: 1}", refused)),
      "--set inner.rate=2: inner: rate must be at most 1");
}

}  // namespace
}  // namespace pacml
