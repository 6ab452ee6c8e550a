#include "env/graph/profile_reader.h"

#include <exception>
#include <fstream>
#include <sstream>
#include <string>

#include "common/result.h"
#include "common/try_again.h"
#include "tests/support/catch.h"
#include "tests/support/no_more_files.h"
#include "tests/support/temp_dir.h"

namespace pacml::env {
namespace {

Profile read(const std::string& text) {
  std::istringstream in(text);
  return read_profile(in, "net", "graph.txt");
}

// The sentence that a file is refused with; empty when it is read.
std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read(text));
    return {};
  } catch (const UserError& error) {
    return error.what();
  }
}

std::string op(int id, const std::string& activation = "8.0") {
  return "node" + std::to_string(id) +
         " -- Conv2d(3, 64) -- forward_compute_time=1.5, backward_compute_time=2.5, "
         "activation_size=" +
         activation + ", parameter_size=4.0\n";
}

std::string dependency(int from, int to) {
  return "\tnode" + std::to_string(from) + " -- node" + std::to_string(to) + "\n";
}

TEST_CASE("a profile keeps the file's order of ops and dependencies", "[profile]") {
  const Profile p = read(op(2) + op(10) + op(1) + op(3) + op(4) + op(5) + op(6) + op(7) + op(8) +
                         op(9) + dependency(2, 10) + dependency(1, 2) + dependency(1, 10));
  CHECK(p.model == "net");
  REQUIRE(p.ops.size() == 10);
  CHECK(p.ops[0].id == 2);
  CHECK(p.ops[1].id == 10);
  CHECK(p.ops[2].id == 1);
  CHECK(p.ops[0].description == "Conv2d(3, 64)");
  CHECK(p.ops[0].forward_time == 1.5);
  CHECK(p.ops[0].backward_time == 2.5);
  CHECK(p.ops[0].activation_bytes == 8);
  CHECK(p.ops[0].parameter_bytes == 4);
  CHECK(p.dependencies == std::vector<std::pair<int, int>>{{2, 10}, {1, 2}, {1, 10}});
}

TEST_CASE("a list counts as its sum", "[profile]") {
  CHECK(read(op(1, "[6291456.0; 131072.0;131072.0]")).ops[0].activation_bytes == 6553600);
  CHECK(read(op(1, "[7]")).ops[0].activation_bytes == 7);
  CHECK(read(op(1, " [ 1e3 ; 0.5 ] ")).ops[0].activation_bytes == 1000.5);
}

TEST_CASE("what an optimiser keeps is read where it stands, among fields that are not",
          "[profile]") {
  const std::string line =
      "node1 -- Op -- forward_compute_time=1, backward_compute_time=1, activation_size=1, "
      "parameter_size=4";
  CHECK(read(line).ops[0].optimizer_bytes == 0);
  CHECK(read(line + ", optimizer_size=8").ops[0].optimizer_bytes == 8);
  CHECK(read(line + ", other=3, optimizer_size=[4; 4] -- stage_id=1").ops[0].optimizer_bytes == 8);
  CHECK_THROWS_WITH(read(line + ", optimizer_size=-1"), Catch::Contains("optimizer_size must be"));
}

TEST_CASE("line ends of Windows, tabs, blank lines and stages are read", "[profile]") {
  std::string text = "\r\n" + op(1) + "\t \n" + op(2) + "\tnode1 -- \tnode2\n";
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) {
    text.replace(at, 1, "\r\n");
  }
  const Profile p = read(text);
  CHECK(p.ops.size() == 2);
  CHECK(p.ops[1].parameter_bytes == 4);
  CHECK(p.dependencies.size() == 1);

  const Profile staged = read(
      "node1 -- Op -- forward_compute_time=1, backward_compute_time=0, activation_size=0, "
      "parameter_size=3, calls=7 -- stage_id=2");
  CHECK(staged.ops[0].parameter_bytes == 3);
}

TEST_CASE("dependencies may stand before the ops they name", "[profile]") {
  CHECK(read(dependency(1, 2) + op(2) + op(1)).dependencies.size() == 1);
}

TEST_CASE("a long chain of ops is read in one go", "[profile]") {
  constexpr int kOps = 20'000;
  std::string text;
  for (int i = 1; i <= kOps; ++i) text += op(i);
  for (int i = 1; i < kOps; ++i) text += dependency(i, i + 1);
  const Profile p = read(text);
  CHECK(p.ops.size() == kOps);
  CHECK(p.dependencies.size() == kOps - 1);
  CHECK(refusal(text + dependency(kOps, 1)).find("cycle") != std::string::npos);
}

TEST_CASE("what is neither op nor dependency is refused with its line", "[profile]") {
  CHECK(refusal(op(1) + "hello\n") ==
        "graph.txt:2: expected an op (node<ID> -- description -- figures) or a dependency "
        "(node<U> -- node<V>)");
  // Without the spaces around it, "--" separates nothing.
  CHECK(refusal(op(1) + op(2) + "\tnode1--node2\n").find("graph.txt:3: expected an op") == 0);
}

TEST_CASE("a node that is not named node<ID> is refused with its line", "[profile]") {
  const auto sentence = [](const std::string& found) {
    return "graph.txt:2: expected node<ID> with an id from 1, found \"" + found + "\"";
  };
  for (const std::string bad : {"node", "node0", "node-1", "node1x", "Node1", "op1", "node 1",
                                "node1.5", "node99999999999", "node1000001", "1"}) {
    CAPTURE(bad);
    CHECK(refusal(op(1) + "\tnode1 -- " + bad + "\n") == sentence(bad));
    CHECK(refusal(op(1) + bad + " -- node1\n") == sentence(bad));
  }
  CHECK(refusal(op(1) + std::string(60, 'x') + " -- node1\n") == sentence(std::string(40, 'x')));
}

TEST_CASE("missing and misnamed figures are refused with their line", "[profile]") {
  CHECK(refusal("node1 -- Op -- forward_compute_time=1, backward_compute_time=2, "
                "activation_size=3\n") ==
        "graph.txt:1: expected forward_compute_time, backward_compute_time, activation_size and "
        "parameter_size");
  CHECK(refusal("node1 -- Op -- forward_compute_time=1, backward=2, activation_size=3, "
                "parameter_size=4\n") ==
        "graph.txt:1: expected backward_compute_time=..., found \"backward=2\"");
  CHECK(refusal("node1 -- Op -- forward_compute_time=1, backward_compute_time, "
                "activation_size=3, parameter_size=4\n") ==
        "graph.txt:1: expected backward_compute_time=..., found \"backward_compute_time\"");
  CHECK(refusal("node1 -- A -- B -- forward_compute_time=1, backward_compute_time=2, "
                "activation_size=3, parameter_size=4\n")
            .find("graph.txt:1: expected forward_compute_time") == 0);
}

TEST_CASE("a figure that is no number from 0 to 1e30 is refused with its line", "[profile]") {
  for (const std::string bad : {"", "-1", "nan", "inf", "1e31", "1e999", "1.0.0", "8k", "0x10"}) {
    CAPTURE(bad);
    CHECK(refusal(op(1) + op(2, bad)) ==
          "graph.txt:2: activation_size must be a number from 0 to 1e30, found \"" + bad + "\"");
  }
  CHECK(refusal(op(1, "[1; x]")) ==
        "graph.txt:1: activation_size must be a number from 0 to 1e30, found \"x\"");
  CHECK(refusal(op(1, "[]")) ==
        "graph.txt:1: activation_size must be a number from 0 to 1e30, found \"\"");
  CHECK(refusal(op(1, "[1; 2")) == "graph.txt:1: activation_size opens a list that never closes");
  CHECK(refusal(op(1, "[")) == "graph.txt:1: activation_size opens a list that never closes");
}

TEST_CASE("an op that is described twice is refused with both lines", "[profile]") {
  CHECK(refusal(op(1) + op(2) + op(1)) == "graph.txt:3: node1 was already described on line 1");
}

TEST_CASE("ids that leave a gap are refused with their line", "[profile]") {
  CHECK(refusal(op(1) + op(3)) ==
        "graph.txt:2: ids must be exactly 1..2 (one per op), found node3");
}

TEST_CASE("dependencies on unknown ops and on the op itself are refused with their line",
          "[profile]") {
  CHECK(refusal(op(1) + op(2) + dependency(1, 2) + dependency(2, 3)) ==
        "graph.txt:4: node3 is not described anywhere in the file");
  CHECK(refusal(op(1) + dependency(1, 1)) == "graph.txt:2: an op cannot depend on itself");
}

TEST_CASE("a dependency that is given twice is refused with both lines", "[profile]") {
  CHECK(refusal(op(1) + op(2) + dependency(1, 2) + "\n" + dependency(1, 2)) ==
        "graph.txt:5: the dependency of node2 on node1 was already given on line 3");
}

TEST_CASE("a dependency that lost its tab is refused with its line", "[profile]") {
  CHECK(refusal(op(1) + op(2) + "node1 -- node2\n") ==
        "graph.txt:3: a dependency must begin with a tab");
  CHECK(refusal(op(1) + op(2) + "  node1 -- node2\n") ==
        "graph.txt:3: a dependency must begin with a tab");
}

TEST_CASE("a graph with a cycle is refused, and an op on it named", "[profile]") {
  // 1 feeds the cycle 2 -> 3 -> 4 -> 2, which feeds 5: only 2, 3 and 4 are on it.
  const std::string sentence =
      refusal(op(5) + op(1) + op(2) + op(3) + op(4) + dependency(1, 2) + dependency(2, 3) +
              dependency(3, 4) + dependency(4, 2) + dependency(4, 5));
  CHECK((sentence == "graph.txt: the graph has a cycle through node2" ||
         sentence == "graph.txt: the graph has a cycle through node3" ||
         sentence == "graph.txt: the graph has a cycle through node4"));
}

TEST_CASE("files without ops, or whose ops take no time, are refused", "[profile]") {
  CHECK(refusal("") == "graph.txt: holds no ops");
  CHECK(refusal("\n\n") == "graph.txt: holds no ops");
  CHECK(refusal(dependency(1, 2)) == "graph.txt: holds no ops");
  CHECK(refusal("node1 -- Op -- forward_compute_time=0, backward_compute_time=0.0, "
                "activation_size=3, parameter_size=4\n") == "graph.txt: no op takes any time");
}

TEST_CASE("a file is named by its folder when it is called graph.txt, else by its stem",
          "[profile]") {
  const testing::TempDir dir;
  std::filesystem::create_directory(dir / "lenet");
  std::ofstream(dir / "lenet" / "graph.txt") << op(1);
  std::ofstream(dir / "other.txt") << op(1);
  CHECK(read_profile_file(dir / "lenet" / "graph.txt").model == "lenet");
  CHECK(read_profile_file(dir / "other.txt").model == "other");
}

TEST_CASE("refusals of a file name its path", "[profile]") {
  const testing::TempDir dir;
  const auto path = dir / "graph.txt";
  std::ofstream(path) << op(1) << "?\n";
  CHECK_THROWS_WITH(read_profile_file(path),
                    Catch::Matchers::StartsWith(path.string() + ":2: expected an op"));
  CHECK_THROWS_WITH(read_profile_file(dir / "none.txt"),
                    "cannot read " + (dir / "none.txt").string() + ": No such file or directory");
  CHECK_THROWS_AS(read_profile_file(dir.path()), UserError);
}

TEST_CASE("a folder of profiles that cannot be listed now may be tried again", "[profile]") {
  const testing::TempDir dir;
  const auto thrown =
      testing::thrown_without_files([&dir] { static_cast<void>(list_profiles(dir.path())); });
  REQUIRE(thrown);
  CHECK_THROWS_AS(std::rethrow_exception(thrown), TryAgainError);
}

}  // namespace
}  // namespace pacml::env
