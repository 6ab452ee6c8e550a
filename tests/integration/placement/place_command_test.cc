#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/pacml_process.h"
#include "tests/support/temp_dir.h"

// What a user sees of `pacml place`.

namespace pacml::testing {
namespace {

using nlohmann::json;

// Two long operations that may run side by side.
constexpr const char* kGraph = R"({
  "ops": [{"name": "in", "cost_us": 100, "output_bytes": [1e6]},
          {"name": "left", "cost_us": 5000, "output_bytes": [1e6], "parameter_bytes": 3e9},
          {"name": "right", "cost_us": 5000, "output_bytes": [1e6], "parameter_bytes": 3e9},
          {"name": "out", "cost_us": 100, "output_bytes": []}],
  "edges": [["in", 0, "left"], ["in", 0, "right"], ["left", 0, "out"], ["right", 0, "out"]]})";

std::string write(const TempDir& folder, const std::string& name, const std::string& text) {
  const auto file = (folder / name).string();
  std::ofstream(file) << text;
  return file;
}

Outcome place(const TempDir& folder, const std::string& graph, const std::string& devices,
              std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"place", graph,   "--devices",
                                    devices, "--out", (folder / "placement.json").string()};
  words.insert(words.end(), more.begin(), more.end());
  return pacml(words);
}

TEST_CASE("a graph is placed by name, with figures and a timeline", "[integration][placement]") {
  const TempDir folder;
  const auto graph = write(folder, "graph.json", kGraph);
  const auto trace = (folder / "trace.json").string();
  const Outcome placed = place(folder, graph, "a100x4", {"--search", "200", "--trace", trace});
  INFO(placed.err);
  REQUIRE(placed.code == 0);
  for (const char* text : {"4 operations in 4 groups on 4 devices, semantics corrected", "heft",
                           "etf", "exact", "search, best ms", "gpu3"}) {
    CHECK_THAT(placed.out, Catch::Contains(text));
  }
  const auto document = json::parse(text_of(folder / "placement.json"));
  CHECK(document["placement"]["left"] != document["placement"]["right"]);
  CHECK(document["runtime_s"].get<double>() == Approx(0.0052).epsilon(0.02));
  CHECK(document["devices"].size() == 4);
  CHECK(document["over_memory_gb"] == 0);
  double best = 1e9;
  for (const json& row : document["compared"]) {
    best = std::min(best, row["penalised_runtime_s"].get<double>());
  }
  CHECK(document["penalised_runtime_s"] == best);
  CHECK(document["search"][0].size() == 2);
  int operations = 0;
  const auto events = json::parse(text_of(trace));
  for (const json& event : events["traceEvents"]) {
    operations += event["ph"] == "X" && event["pid"] == 1 ? 1 : 0;
  }
  CHECK(operations == 4);
}

TEST_CASE("a device that overflows is warned of", "[integration][placement]") {
  const TempDir folder;
  const auto graph = write(folder, "graph.json", kGraph);
  const auto devices = write(folder, "devices.yaml", "devices: [{name: small, memory_gb: 13}]\n");
  const Outcome placed = place(folder, graph, devices);
  INFO(placed.err);
  CHECK(placed.code == 2);  // 24 GB of weights
  CHECK_THAT(placed.err, Catch::Contains("all devices together have 13.00 GB"));
  const auto two =
      write(folder, "two.yaml",
            "devices: [{name: a, memory_gb: 12.0005}, {name: b, memory_gb: 12.0015}]\n");
  const Outcome tight = place(folder, graph, two);
  INFO(tight.err);
  CHECK(tight.code == 0);
  CHECK_THAT(tight.err, Catch::Contains("GB more memory than it has"));
}

TEST_CASE("a profile is placed with the published semantics", "[integration][placement]") {
  const TempDir folder;
  const auto profile = source_path("tests/golden/env/graphs/diamond/graph.txt").string();
  const Outcome placed = place(folder, profile, "placeto:2");
  INFO(placed.err);
  REQUIRE(placed.code == 0);
  CHECK_THAT(placed.out, Catch::Contains("semantics placeto"));
  const auto document = json::parse(text_of(folder / "placement.json"));
  CHECK(document["placement"].contains("node1/b"));
}

TEST_CASE("recorded placements are replayed, and counted", "[integration][placement]") {
  const TempDir folder;
  const auto replay = [&](const std::string& name) {
    const auto file = source_path("tests/golden/placement/" + name).string();
    const Outcome profiled = pacml({"trace", file, "--profiles", folder.path().string(), "--out",
                                    (folder / "out.json").string()});
    CHECK(profiled.code == 2);
    CHECK_THAT(profiled.err,
               Catch::Contains("--profiles: only recordings of format ramp-golden-1"));
    const Outcome replayed = pacml({"trace", file, "--out", (folder / "out.json").string()});
    INFO(replayed.err);
    CHECK(replayed.code == 0);
    return replayed.out;
  };
  CHECK(replay("p03_fractions.json") == "32 placements, 0 episodes\n");
  CHECK(replay("q01_episode.json") == "0 placements, 1 episode\n");
}

TEST_CASE("what cannot be placed is refused in one sentence", "[integration][placement]") {
  const TempDir folder;
  const auto refusal = [&](const std::string& graph, const std::string& devices,
                           std::vector<std::string> more = {}) {
    const Outcome outcome = place(folder, graph, devices, std::move(more));
    CHECK(outcome.code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    return outcome.err;
  };
  const auto good = write(folder, "good.json", kGraph);
  CHECK_THAT(refusal((folder / "none.json").string(), "a100x4"), Catch::Contains("cannot be read"));
  CHECK_THAT(refusal(good, "b100x4"), Catch::Contains("none of these is called so"));
  CHECK_THAT(refusal(good, "placeto:0"), Catch::Contains("number of devices"));
  CHECK_THAT(refusal(good, "a100x4", {"--search", "-1"}), Catch::Contains("--search"));
  CHECK_THAT(refusal(good, "a100x4", {"--policy", (folder / "none").string()}),
             Catch::Contains("none"));
  const auto bad = [&](const char* text) { return write(folder, "bad.json", text); };
  CHECK_THAT(refusal(bad("[1"), "a100x4"), Catch::Contains("no JSON document"));
  CHECK_THAT(refusal(bad(R"({"ops": [{"name": "a", "cost_us": -1, "output_bytes": []}],
                             "edges": []})"),
                     "a100x4"),
             Catch::Contains("the operation \"a\" has a cost"));
  CHECK_THAT(refusal(bad(R"({"ops": [{"name": "a", "cost_us": 1, "output_bytes": []},
                                     {"name": "b", "cost_us": 1, "output_bytes": []}],
                             "edges": [[0, 0, 1], [1, 0, 0]]})"),
                     "a100x4"),
             Catch::Contains("cycle"));
  CHECK_THAT(refusal(bad(R"({"ops": [{"name": "a", "cost_us": 1, "output_bytes": [1e12]}],
                             "edges": []})"),
                     "a100x4"),
             Catch::Contains("no device has more than 80.00 GB"));
  // Every output could be on its way to every device.
  CHECK_THAT(refusal(bad(R"({"ops": [{"name": "a", "cost_us": 1, "output_bytes": []},
                                     {"name": "b", "cost_us": 1, "output_bytes": []}],
                             "edges": [[0, 1999998, 1]]})"),
                     "placeto:256"),
             Catch::Contains("1999999 outputs on 256 devices are more than 33554432 copies"));
  std::string million = R"({"edges": [], "ops": [)";
  for (int i = 0; i < 1'000'000; ++i) million += i == 0 ? "0" : ",0";
  CHECK_THAT(refusal(bad((million + "]}").c_str()), "a100x4"),
             Catch::Contains("1000000 operations, more than 100000"));
}

}  // namespace
}  // namespace pacml::testing
