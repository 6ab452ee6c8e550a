#include <array>
#include <filesystem>
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

// Files that may extend one another, in a folder.
class Files {
 public:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    REQUIRE(write_file_atomically(folder_ / name, text));
  }
  [[nodiscard]] ConfigSource read(const std::string& name,
                                  const std::vector<std::string>& overrides = {}) const {
    return ConfigSource::from_file(folder_ / name, overrides);
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

 private:
  testing::TempDir folder_;
};

TEST_CASE("a file is laid over what it extends", "[config]") {
  const Files files;
  files.write("base.yaml", "a: 1\nb: {c: 2, d: {e: 3}}\nlist: [1, 2]\n");
  files.write("own/child.yaml", "extends: ../base.yaml\nb:\n  d: {e: 4}\n  f: 5\nlist: [6]\n");
  const ConfigSource source = files.read("own/child.yaml", {"b.f=7"});
  const ConfigNode& root = source.root();
  CHECK(root.find("extends") == nullptr);
  CHECK(root.find("a")->text == "1");
  CHECK(root.find("a")->where == files.path("own/../base.yaml") + ":1");
  const ConfigNode& b = *root.find("b");
  CHECK(b.find("c")->text == "2");
  CHECK(b.find("d")->find("e")->text == "4");
  CHECK(b.find("d")->find("e")->where == files.path("own/child.yaml") + ":3");
  CHECK(b.find("f")->where == "--set b.f=7");
  CHECK(root.find("list")->items.size() == 1);
  CHECK(source.files() == std::vector<std::filesystem::path>{files.path("own/../base.yaml"),
                                                             files.path("own/child.yaml")});
}

TEST_CASE("what says its kind, the same or another, keeps nothing of what it is laid over",
          "[config]") {
  const Files files;
  files.write(
      "base.yaml",
      "rate: {kind: linear, start: 1, end: 2}\nlimits: {kind: pmf, pmf: {0.1: 1, 0.2: 2}}\n");
  files.write("other.yaml", "extends: base.yaml\nrate: {kind: constant, start: 3}\n");
  files.write("same.yaml", "extends: base.yaml\nlimits: {kind: pmf, pmf: {0.3: 1}}\n");
  files.write("part.yaml", "extends: base.yaml\nrate: {end: 4}\nlimits:\n");
  CHECK(files.read("other.yaml").root().find("rate")->entries.size() == 2);
  CHECK(files.read("same.yaml").root().find("limits")->find("pmf")->entries.size() == 1);
  const ConfigNode part = files.read("part.yaml").root();
  CHECK(part.find("rate")->find("kind")->text == "linear");
  CHECK(part.find("rate")->find("end")->text == "4");
  CHECK(part.find("limits")->entries.size() == 2);  // a key without a value says nothing
}

TEST_CASE("of several files that are extended the later ones count", "[config]") {
  const Files files;
  files.write("first.yaml", "a: 1\nb: 1\nc: 1\n");
  files.write("second.yaml", "extends: third.yaml\nb: 2\nc: 2\n");
  files.write("third.yaml", "b: 3\nd: 3\n");
  files.write("child.yaml", "extends: [first.yaml, second.yaml]\nc: 4\n");
  const ConfigNode root = files.read("child.yaml").root();
  CHECK(root.find("a")->text == "1");
  CHECK(root.find("b")->text == "2");
  CHECK(root.find("c")->text == "4");
  CHECK(root.find("d")->text == "3");
}

TEST_CASE("what cannot be extended is refused where it is named", "[config]") {
  const Files files;
  files.write("none.yaml", "a: 1\nextends: absent.yaml\n");
  REQUIRE_THROWS_WITH(
      files.read("none.yaml"),
      files.path("none.yaml") + ":2: extends: there is no file " + files.path("absent.yaml"));
  files.write("map.yaml", "extends: {a: 1}\n");
  REQUIRE_THROWS_WITH(files.read("map.yaml"), files.path("map.yaml") +
                                                  ":1: extends: expected a file, or a list of "
                                                  "files");
  files.write("left.yaml", "extends: right.yaml\n");
  files.write("right.yaml", "extends: left.yaml\n");
  REQUIRE_THROWS_WITH(files.read("left.yaml"), files.path("right.yaml") +
                                                   ":1: extends: " + files.path("left.yaml") +
                                                   " leads back to this file");
  files.write("0.yaml", "a: 1\n");
  for (int i = 1; i <= 20; ++i) {
    files.write(std::to_string(i) + ".yaml", "extends: " + std::to_string(i - 1) + ".yaml\n");
  }
  CHECK(files.read("15.yaml").root().find("a")->text == "1");
  REQUIRE_THROWS_WITH(files.read("20.yaml"), Catch::Contains("one file too many"));
  files.write("wide.yaml", "extends: [7.yaml, 7.yaml]\n");
  REQUIRE_THROWS_WITH(files.read("wide.yaml"), Catch::Contains("one file too many"));
  files.write("broken.yaml", "a: [1\n");
  files.write("on_broken.yaml", "extends: broken.yaml\n");
  REQUIRE_THROWS_WITH(files.read("on_broken.yaml"),
                      Catch::StartsWith(files.path("broken.yaml") + ":2: not valid YAML"));
  REQUIRE_THROWS_WITH(parse("extends: base.yaml\n"),
                      "x.yaml:1: extends is for files, which stand in a folder");
  files.write("text.yaml", "no map\n");
  files.write("list.yaml", "- a\n");
  for (const std::string base : {"text.yaml", "list.yaml"}) {
    files.write("on_it.yaml", "extends: [0.yaml, " + base + "]\n");
    REQUIRE_THROWS_WITH(files.read("on_it.yaml"), files.path("on_it.yaml") +
                                                      ":1: extends: " + files.path(base) +
                                                      " is no map of keys and values");
  }
  files.write("folder.yaml", "extends: .\n");
  REQUIRE_THROWS_WITH(files.read("folder.yaml"), Catch::Contains("is no file"));
  REQUIRE_THROWS_WITH(files.read("0.yaml", {"extends=1.yaml"}),
                      "--set extends=1.yaml: extends stands in a file");
  REQUIRE_THROWS_WITH(ConfigSource::from_lone_file(files.path("1.yaml")),
                      files.path("1.yaml") + ": a file of this sort extends none");
  files.write("empty.yaml", "# nothing\n");
  REQUIRE_THROWS_WITH(files.read("empty.yaml"), Catch::Contains("sets nothing"));
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
