#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/atomic_file.h"
#include "common/config/source.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

using Kind = ConfigNode::Kind;

ConfigNode parse(std::string_view text, const std::vector<std::string>& overrides = {}) {
  return ConfigSource::from_text("x.yaml", text, overrides).root();
}

TEST_CASE("every value knows its line", "[config]") {
  const ConfigNode root = parse("# comment\na: 1\nb:\n  c: [x, 'y']\n");
  REQUIRE(root.find("a")->where == "x.yaml:2");
  const ConfigNode& list = *root.find("b")->find("c");
  REQUIRE(list.where == "x.yaml:4");
  REQUIRE(list.items.size() == 2);
  REQUIRE_FALSE(list.items[0].quoted);
  REQUIRE(list.items[1].quoted);
}

TEST_CASE("nothing but comments is an empty configuration", "[config]") {
  REQUIRE(parse("").kind == Kind::kNull);
  REQUIRE(parse("# only a comment\n").kind == Kind::kNull);
  REQUIRE(parse("---\n").kind == Kind::kNull);
}

TEST_CASE("text that is not a configuration is refused with its line", "[config]") {
  REQUIRE_THROWS_WITH(parse("a: 1\nb: [1, 2\n"), Catch::StartsWith("x.yaml:3: not valid YAML"));
  REQUIRE_THROWS_WITH(parse("a: 1\nb: 2\na: 3\n"),
                      "x.yaml:3: key 'a' is given twice, first at x.yaml:1");
  REQUIRE_THROWS_WITH(parse("a: &x 1\n"), "x.yaml:1: anchors (&name) are not supported");
  REQUIRE_THROWS_WITH(parse("a: &x 1\nb: *x\n"), Catch::Contains("not supported"));
  REQUIRE_THROWS_WITH(parse("a: !!int 1\n"), Catch::Contains("tags"));
  REQUIRE_THROWS_WITH(parse("a: !thing {b: 1}\n"), Catch::Contains("tags"));
  REQUIRE_THROWS_WITH(parse("[a]: 1\n"), "x.yaml:1: a key must be a plain name, no list or map");
  REQUIRE_THROWS_WITH(parse("? \n: 1\n"), "x.yaml:2: a key must be a plain name, no list or map");
  REQUIRE_THROWS_WITH(parse("a: 1\n---\nb: 2\n"), Catch::Contains("more than one YAML document"));
}

TEST_CASE("nesting and size have limits", "[config]") {
  REQUIRE_THROWS_WITH(parse(std::string(100, '[') + std::string(100, ']')),
                      Catch::Contains("nested too deeply"));
  REQUIRE_THROWS_AS(parse(std::string(100'000, '[')), UserError);
  REQUIRE_THROWS_WITH(parse(std::string((1 << 20) + 1, '#')), Catch::Contains("1 MiB"));
}

TEST_CASE("an override replaces a value and names itself", "[config]") {
  const ConfigNode root = parse("a: {b: 1, c: 2}\n", {"a.b=[1, {d: 2}]"});
  const ConfigNode& value = *root.find("a")->find("b");
  REQUIRE(value.kind == Kind::kList);
  REQUIRE(value.items[1].find("d")->text == "2");
  REQUIRE(value.items[1].find("d")->where == "--set a.b=[1, {d: 2}]");
  REQUIRE(root.find("a")->find("c")->text == "2");
}

TEST_CASE("an override makes the maps on its way", "[config]") {
  REQUIRE(parse("", {"a.b.c=1"}).find("a")->find("b")->find("c")->text == "1");
  REQUIRE(parse("a:\n", {"a.b=1"}).find("a")->find("b")->text == "1");
}

TEST_CASE("the last override wins, and one without a value sets nothing", "[config]") {
  REQUIRE(parse("a: 1", {"a=2", "a=3"}).find("a")->text == "3");
  REQUIRE(parse("a: 1", {"a="}).find("a")->kind == Kind::kNull);
}

TEST_CASE("a malformed override is refused", "[config]") {
  REQUIRE_THROWS_WITH(parse("", {"a"}), "--set a: expected key=value");
  REQUIRE_THROWS_WITH(parse("", {"=1"}), "--set =1: expected key=value");
  REQUIRE_THROWS_WITH(parse("", {"a..b=1"}), "--set a..b=1: an empty name between dots");
  REQUIRE_THROWS_WITH(parse("a: 5", {"a.b=1"}),
                      "--set a.b=1: there is no 'b' to set: the value at that place (x.yaml:1) is "
                      "not a map");
  REQUIRE_THROWS_WITH(parse("a:\n  list: [{b: 1}]", {"a.list.0.b=2"}),
                      "--set a.list.0.b=2: a.list (x.yaml:2) is a list, which is set whole: --set "
                      "'a.list=[...]'");
  REQUIRE_THROWS_WITH(parse("", {"a=[1"}), Catch::StartsWith("--set a=[1"));
}

TEST_CASE("a file is read, a missing one named", "[config]") {
  const testing::TempDir folder;
  REQUIRE(write_file_atomically(folder / "c.yaml", "a: 1\n"));
  const auto source = ConfigSource::from_file(folder / "c.yaml");
  REQUIRE(source.root().find("a")->where == (folder / "c.yaml").string() + ":1");
  REQUIRE_THROWS_WITH(ConfigSource::from_file(folder / "none.yaml"),
                      Catch::Contains((folder / "none.yaml").string()));
}

TEST_CASE("what somebody else reads is left away", "[config]") {
  const auto source = ConfigSource::from_text("x.yaml", "a: 1\nb: {c: 2}\nd: 3\n");
  const auto rest = source.without(std::array<std::string_view, 2>{"b", "e"});
  REQUIRE(rest.root().entries.size() == 2);
  REQUIRE(rest.root().find("a")->text == "1");
  REQUIRE(rest.root().find("d")->text == "3");
}

}  // namespace
}  // namespace pacml
