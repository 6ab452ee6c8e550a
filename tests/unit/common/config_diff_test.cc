#include "common/config/diff.h"
#include "common/config/dump.h"
#include "tests/support/catch.h"
#include "tests/support/sample_config.h"

namespace pacml {
namespace {

using Sentences = std::vector<std::string>;

TEST_CASE("equal configurations differ in nothing", "[config]") {
  const std::string text = dump_config(testing::SampleConfig{});
  REQUIRE(config_differences(text, text).empty());
}

TEST_CASE("each different key is a sentence", "[config]") {
  REQUIRE(config_differences("a: {b: 1, c: [1, 2]}\nd: 5", "a: {b: 2, c: [1, 3]}\ne: 6") ==
          Sentences{"a.b: 1 here, 2 there", "a.c: [1, 2] here, [1, 3] there",
                    "d: 5 here, absent there", "e: absent here, 6 there"});
}

TEST_CASE("a value is told in one line, whatever it holds", "[config]") {
  REQUIRE(config_differences("a: [{b: 1, c: [x, y]}, {d: {}}]", "a: []") ==
          Sentences{"a: [{b: 1, c: [x, y]}, {d: {}}] here, [] there"});
}

TEST_CASE("a map that is empty on one side alone is told by the other's keys", "[config]") {
  REQUIRE(config_differences("m: {x: 1, y: {z: 2}}", "m: {}") ==
          Sentences{"m.x: 1 here, absent there", "m.y.z: 2 here, absent there"});
  REQUIRE(config_differences("m: {}\nmore: 1", "m: {x: 1}\nmore: 1") ==
          Sentences{"m.x: absent here, 1 there"});
}

TEST_CASE("an empty map that the other side lacks is told itself", "[config]") {
  REQUIRE(config_differences("m: {}", "more: {x: 1}") ==
          Sentences{"m: {} here, absent there", "more.x: absent here, 1 there"});
  REQUIRE(config_differences("more: 1", "m: {}") ==
          Sentences{"more: 1 here, absent there", "m: absent here, {} there"});
}

TEST_CASE("many differences are cut", "[config]") {
  REQUIRE(config_differences("{a: 1, b: 1, c: 1}", "{a: 2, b: 2, c: 2}", 2) ==
          Sentences{"a: 1 here, 2 there", "b: 1 here, 2 there", "and 1 more"});
}

TEST_CASE("a peer's nonsense is a sentence, not an exception", "[config]") {
  const auto differences = config_differences("a: 1", "{[");
  REQUIRE(differences.size() == 1);
  REQUIRE_THAT(differences[0], Catch::StartsWith("the configurations cannot be compared: there"));
}

}  // namespace
}  // namespace pacml
