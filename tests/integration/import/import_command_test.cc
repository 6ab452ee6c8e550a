#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/chakra_traces.h"
#include "tests/support/onnx_models.h"
#include "tests/support/pacml_process.h"
#include "tests/support/temp_dir.h"

// What a user sees of `pacml import`, and of what comes after it.

namespace pacml::testing {
namespace {

std::string write(const TempDir& folder, const std::string& name, const std::string& bytes) {
  const auto file = (folder / name).string();
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

}  // namespace

TEST_CASE("an imported model is shown, placed and evaluated as any other", "[integration]") {
  const TempDir folder;
  const auto model = write(folder, "net.onnx", onnx_alexnet());
  const auto profiles = (folder / "models").string();
  const Outcome imported =
      pacml({"import", model, "--batch", "64", "--optimizer", "adam", "--out", profiles});
  INFO(imported.err);
  REQUIRE(imported.code == 0);
  CHECK(imported.err.empty());
  for (const char* text : {"Conv", "matrix product", "61.101", "models/net/graph.txt"}) {
    CHECK_THAT(imported.out, Catch::Contains(text));
  }
  const Outcome shown = pacml({"graphs", "--profiles", profiles});
  REQUIRE(shown.code == 0);
  CHECK_THAT(shown.out, Catch::Contains("net") && Catch::Contains("0.244"));
  const Outcome placed = pacml({"place", profiles + "/net/graph.txt", "--devices", "a100x4",
                                "--out", (folder / "placement.json").string()});
  INFO(placed.err);
  CHECK(placed.code == 0);
  const auto config = write(folder, "config.yaml", "env: {cluster: {max_simulation_time: 5000}}\n");
  const Outcome judged =
      pacml({"eval", config, "--profiles", profiles, "--policy", "no_parallelism", "--seeds", "1"});
  INFO(judged.err);
  CHECK(judged.code == 0);
}

TEST_CASE("a graph that TensorFlow has run is placed", "[integration]") {
  const TempDir folder;
  const auto graph = write(folder, "g.pbtxt",
                           "node { name: 'a' output_info { size: 7600 } compute_cost: 500 }\n"
                           "node { name: 'b' id: 1 input_info { } compute_cost: 900 }\n"
                           "node { name: 'c' id: 2 input_info { } compute_cost: 800 }\n");
  const auto out = (folder / "g.json").string();
  const Outcome imported = pacml({"import", graph, "--out", out});
  INFO(imported.err);
  REQUIRE(imported.code == 0);
  CHECK_THAT(imported.out, Catch::Contains("3 operations, 2 edges, 2.200 ms"));
  const Outcome placed =
      pacml({"place", out, "--devices", "a100x4", "--out", (folder / "placement.json").string()});
  INFO(placed.err);
  CHECK(placed.code == 0);
  CHECK_THAT(placed.out, Catch::Contains("etf"));
  const auto refusal = [&](const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"import", write(folder, "bad.pbtxt", text), "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = pacml(words);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(refusal("node { name: 'a' control_input: 0 }"), Catch::Contains("bad.pbtxt: "));
  CHECK_THAT(refusal("node { name: 'a' }"), Catch::Contains("no operation of it takes any time"));
  CHECK_THAT(refusal("node {"), Catch::Contains("bad.pbtxt:1:7: "));
  for (const std::vector<std::string>& useless :
       {std::vector<std::string>{"--fuse"}, {"--device", "a100"}, {"--optimizer", "sgd"}}) {
    CHECK_THAT(refusal("node { name: 'a' compute_cost: 1 }", useless),
               Catch::Contains("without options but --out"));
  }
}

TEST_CASE("an execution trace of Chakra is placed", "[integration]") {
  const TempDir folder;
  const std::vector<ChakraNode> nodes = {
      {.id = 1, .name = "a", .duration_micros = 500, .output_values = "[[1, 2, 0, 9, 4, 'cuda']]"},
      {.id = 2,
       .name = "b\xff",  // as no text is
       .data_deps = {1},
       .attributes = {attribute("num_ops", 1'000'000'000)}},
      {.id = 3,
       .name = "c",
       .type = 7,
       .data_deps = {2},
       .attributes = {attribute("comm_type", 2), attribute("comm_size", 4'000'000)}}};
  const auto trace = write(folder, "t.et", chakra_trace(nodes));
  const auto out = (folder / "g.json").string();
  const Outcome imported = pacml({"import", trace, "--device", "v100", "--out", out});
  INFO(imported.err);
  REQUIRE(imported.code == 0);
  for (const char* text : {"3 operations, 2 edges", "all-gather", "4.000", "is timed for v100"}) {
    CHECK_THAT(imported.out, Catch::Contains(text));
  }
  const Outcome placed =
      pacml({"place", out, "--devices", "a100x4", "--out", (folder / "placement.json").string()});
  INFO(placed.err);
  CHECK(placed.code == 0);
  const auto refusal = [&](const std::string& bytes, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"import", write(folder, "bad.et", bytes), "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = pacml(words);
    CHECK(outcome.code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    return outcome.err;
  };
  CHECK_THAT(refusal(chakra_trace(nodes).substr(0, 30)), Catch::Contains("bad.et: node 1 is cut"));
  CHECK_THAT(refusal(chakra_trace({{.id = 1}})), Catch::Contains("takes any time"));
  CHECK_THAT(refusal(chakra_trace({{.id = 1, .data_deps = {2}}, {.id = 2, .data_deps = {1}}})),
             Catch::Contains("cycle"));
  CHECK_THAT(refusal(chakra_trace(nodes), {"--batch", "8"}), Catch::Contains("--device"));
  CHECK_THAT(refusal(chakra_trace(nodes), {"--optimizer", "adam"}), Catch::Contains("--device"));
}

TEST_CASE("the same import gives the same file, and says where it is from", "[integration]") {
  const TempDir folder;
  const auto model = write(folder, "net.onnx", onnx_resnet18());
  for (const char* name : {"a.txt", "b.txt"}) {
    REQUIRE(
        pacml({"import", model, "--fuse", "--device", "v100", "--out", (folder / name).string()})
            .code == 0);
  }
  const std::string text = text_of(folder / "a.txt");
  CHECK(text == text_of(folder / "b.txt"));
  CHECK_THAT(text, Catch::Contains("modelled by pacml import for v100, 32 samples, sgd, fused; "
                                   "from net.onnx, ONNX operator set 13 of by hand"));
}

TEST_CASE("a device of one's own times an import", "[integration]") {
  const TempDir folder;
  const auto model = write(folder, "net.onnx", onnx_alexnet());
  const auto device = write(folder, "slow.yaml", "peak_flops: 1e12\nmemory_bandwidth: 1e11\n");
  const auto out = (folder / "graph.txt").string();
  const Outcome imported = pacml({"import", model, "--device", device, "--out", out});
  INFO(imported.err);
  REQUIRE(imported.code == 0);
  CHECK_THAT(imported.out, Catch::Contains("training step on one slow"));
  CHECK_THAT(text_of(out), Catch::Contains("for slow,"));
}

TEST_CASE("what cannot be imported is one sentence, exit code 2, and leaves nothing",
          "[integration]") {
  const TempDir folder;
  const auto model = write(folder, "net.onnx", onnx_alexnet());
  const auto broken = write(folder, "broken.onnx", onnx_alexnet().substr(0, 1000));
  const auto out = (folder / "out.txt").string();
  struct Case {
    std::vector<std::string> words;
    const char* says;
  };
  for (const Case& c : std::vector<Case>{
           {{"import", broken, "--out", out}, "no ONNX model"},
           {{"import", (folder / "none.onnx").string(), "--out", out}, "cannot be read"},
           {{"import", folder.path().string(), "--out", out}, "folder"},
           {{"import", model, "--out", out, "--device", "a10"}, "did you mean 'a100'?"},
           {{"import", model, "--out", out, "--optimizer", "lion"}, "sgd, momentum or adam"},
           {{"import", model, "--out", out, "--batch", "0"}, "--batch"},
           {{"import", model, "--out", out, "--dim", "steps"}, "NAME=N"},
           {{"import", model, "--out", out, "--dim", "open=2", "--dim", "open=3"}, "twice"},
           {{"import", model, "--out", out, "--dim", "open=2", "--batch", "3"}, "both --batch"},
           {{"import", model, "--out", out, "--name", "net"}, "--name"},
           {{"import", broken, "--out", (folder / "new").string()}, "no ONNX model"},
           {{"import", model, "--out", "/proc/none/x.txt"}, "--out"}}) {
    const Outcome outcome = pacml(c.words);
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, Catch::Contains(c.says));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(out));
    CHECK_FALSE(std::filesystem::exists(folder / "new"));
  }
}

TEST_CASE("operators that are not known are told by name", "[integration]") {
  const TempDir folder;
  OnnxModel m;
  std::string x = m.gemm(m.input("x", {0, 16}), 16, 16);
  for (int i = 0; i < 2; ++i) {
    x = m.add("Wobble", {x});
    m.last().set_domain("my.domain");
  }
  m.output(m.add("Shake", {x}));
  const auto model = write(folder, "net.onnx", m.bytes());
  const Outcome imported = pacml({"import", model, "--out", (folder / "out.txt").string()});
  REQUIRE(imported.code == 0);
  CHECK_THAT(imported.err, Catch::StartsWith("warning: 3 operations are of operators that are not "
                                             "known (Shake: 1, my.domain::Wobble: 2): "));
  CHECK_THAT(imported.out, Catch::Contains("32 (open)"));
}

}  // namespace pacml::testing
