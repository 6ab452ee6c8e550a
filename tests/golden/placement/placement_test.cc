// Replays recorded placements and compares every recorded quantity. Two sets: our own, made by an
// independent implementation (make_golden.py), and the reference recordings, where the machine has
// them.

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/trace/trace_replay.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/recordings.h"

namespace pacml {
namespace {

using nlohmann::json;
using testing::difference;
using testing::read_json;
using testing::recordings_in;
using testing::spoil;
using testing::Tolerance;
namespace fs = std::filesystem;

// What is computed with exponentials and many sums; everything else is to the last bit, unless
// `exact` says otherwise.
Tolerance tolerance_of(double rounded = 1e-9, double exact = 0, double least = 1) {
  return {.share = exact, .least = least, .share_of = [rounded, exact](std::string_view key) {
            return key == "logits" || key == "logp" || key == "entropy" ? rounded : exact;
          }};
}

// Every number that a simulation or a network gave, somewhere else.
json spoiled(json document) {
  for (const char* part : {"runs", "episodes", "updates", "greedy"}) {
    if (!document.contains(part)) continue;
    for (json& entry : document[part]) {
      for (auto& [key, value] : entry.items()) {
        if (part == std::string("greedy") && key == "actions") spoil(value);
        const bool is_given = key == "update" || key == "before_update" || key == "placement" ||
                              key == "order" || key == "initial" || key == "actions" ||
                              key == "penalty" || key == "gamma" || key == "n_peers" ||
                              key == "use_mem" || key == "rounds" || key == "weights";
        if (key == "penalised") {
          for (json& row : value) spoil(row["runtime_s"]);
        } else if (!is_given) {
          spoil(value);
        }
      }
    }
  }
  return document;
}

json replay(const json& document) { return apps::replay_trace(document, ""); }

// Advantages of recorded training went through float32, and change what follows.
Tolerance of_training() { return tolerance_of(1e-6, 1e-6, 1e-3); }

std::size_t replay_all(const std::vector<fs::path>& files) {
  std::size_t replayed = 0;
  for (const fs::path& file : files) {
    const json recorded = read_json(file);
    const bool is_training = recorded.at("format") == "pacml-placement-training/1";
    if (!is_training && recorded.at("format") != "pacml-placement/1") continue;
    const Tolerance tolerance = is_training ? of_training() : tolerance_of();
    INFO(file.filename().string());
    CHECK(difference(recorded, replay(recorded), "", tolerance) == "");
    CHECK(difference(recorded, replay(spoiled(recorded)), "", tolerance) == "");
    ++replayed;
  }
  return replayed;
}

TEST_CASE("placements recorded by an independent simulator are reproduced, and put right",
          "[golden][placement]") {
  CHECK(replay_all(recordings_in(testing::source_path("tests/golden/placement"))) >= 12);
}

TEST_CASE("the reference's placements are reproduced, where present", "[golden][placement]") {
  const auto files = recordings_in(testing::source_path("").parent_path().parent_path() / "shared" /
                                   "golden_placement");
  if (files.empty()) {
    WARN("this test is skipped: this machine has no reference recordings beside the project");
    return;
  }
  CHECK(replay_all(files) >= 54);
}

TEST_CASE("a comparison of placements notices a changed figure and a missing one",
          "[golden][placement]") {
  const json recorded = {{"a", {{"start_us", {1.0, 2.0}}, {"logits", {0.5}}}}};
  CHECK(difference(recorded, recorded, "", tolerance_of()) == "");
  json changed = recorded;
  changed["a"]["start_us"][1] = std::nextafter(2.0, 3.0);
  CHECK(difference(recorded, changed, "", tolerance_of()) != "");
  changed = recorded;
  changed["a"]["logits"][0] = 0.5 + 1e-8;
  CHECK(difference(recorded, changed, "", tolerance_of()) != "");
  changed = recorded;
  changed["a"].erase("logits");
  CHECK(difference(recorded, changed, "", tolerance_of()) != "");
}

TEST_CASE("a recording of placements needs nothing but what was decided", "[golden][placement]") {
  for (const char* name : {"p03_fractions", "q02_random_order"}) {
    const json recorded =
        read_json(testing::source_path(std::string("tests/golden/placement/") + name + ".json"));
    json brief = recorded;
    for (const char* part : {"runs", "episodes"}) {
      if (!brief.contains(part)) continue;
      for (json& entry : brief[part]) {
        for (const char* key : {"runtime_us", "start_us", "end_us", "peak_bytes", "events",
                                "transfers", "steps", "attributes", "reward_runtime_s"}) {
          entry.erase(key);
        }
      }
    }
    INFO(name);
    CHECK(difference(recorded, replay(brief), "", tolerance_of()) == "");
  }
}

TEST_CASE("a recording of placements that makes no sense is refused in a sentence",
          "[golden][placement]") {
  const json good = read_json(testing::source_path("tests/golden/placement/p03_fractions.json"));
  const auto refusal = [&](const char* pointer, const json& value) -> std::string {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    try {
      static_cast<void>(replay(bad));
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK_THAT(refusal("/devices", 0), Catch::Contains("count: must be in 1..256"));
  CHECK_THAT(refusal("/constants/bytes_per_us", -1), Catch::Contains("bytes_per_us"));
  CHECK_THAT(refusal("/constants", 3), Catch::Contains("delta1_us"));
  CHECK_THAT(refusal("/graph/ops/1/cost_us", -0.5), Catch::Contains("cost"));
  CHECK_THAT(refusal("/graph/ops/1/name", "a"), Catch::Contains("two operations \"a\""));
  CHECK_THAT(refusal("/graph/edges/0", {3, 0, 1}), Catch::Contains("cycle"));
  CHECK_THAT(refusal("/graph/edges/0", {0, 0, 9}), Catch::Contains("operation 9 of 5"));
  CHECK_THAT(refusal("/graph/edges/0/1", 1e12), Catch::Contains("output of edge 0"));
  CHECK_THAT(refusal("/runs/0/placement/2", 2), Catch::Contains("whole number below 2"));
  CHECK_THAT(refusal("/runs/0/placement", {0, 0}), Catch::Contains("device for each operation"));
  CHECK_THAT(refusal("/runs", "none"), Catch::Contains("expected a list"));
}

TEST_CASE("greedy episodes before an update that is none are refused", "[golden][placement]") {
  const json network = read_json(testing::source_path("tests/golden/placement/q03_network.json"));
  const json& episode = network.at("episodes").at(0);
  json recorded = {{"format", "pacml-placement-training/1"}};
  for (const char* key : {"constants", "devices", "graph"}) recorded[key] = network.at(key);
  for (const char* key : {"order", "weights"}) recorded[key] = episode.at(key);
  recorded["settings"] = {{"rounds", episode.at("rounds")},
                          {"reward", "best_later"},
                          {"baseline_window", 3},
                          {"beta1", 0.9},
                          {"beta2", 0.999},
                          {"epsilon", 1e-8},
                          {"grad_clip", 1.25},
                          {"lr", "1e-3 -> 1e-4 linear over 10 updates"},
                          {"entropy_weight", "1 -> 0 linear over 8 updates"}};
  json update = json::object();
  for (const char* key : {"initial", "actions"}) update[key] = episode.at(key);
  recorded["updates"] = json::array({update});
  const auto replay_before = [&](const json& which) {
    json greedy = json::object();
    greedy["before_update"] = which;
    greedy["runtime_s"] = {1.0};
    recorded["greedy"] = json::array({greedy});
    return replay(recorded).at("greedy").at(0);
  };
  CHECK(replay_before(1).at("runtime_s").size() == episode.at("order").size() + 1);
  for (const json& which : {json(2), json(0), json(1.5), json("1")}) {
    INFO(which);
    CHECK_THROWS_WITH(replay_before(which),
                      "greedy[].before_update: there is no update " + which.dump());
  }
}

TEST_CASE("episodes that show too much together are refused before they are played",
          "[golden][placement]") {
  json recorded = read_json(testing::source_path("tests/golden/placement/p03_fractions.json"));
  recorded["devices"] = 256;
  recorded["graph"]["edges"] = json::array();
  recorded["graph"]["ops"] = json::array();
  for (int v = 0; v < 2000; ++v) {
    recorded["graph"]["ops"].push_back(
        {{"name", std::to_string(v)}, {"cost_us", 1}, {"output_bytes", json::array()}});
  }
  recorded["runs"] = json::array();
  const json episode = {{"actions", std::vector<int>(100, 0)}};
  recorded["episodes"] = {episode, episode};
  CHECK_THROWS_WITH(replay(recorded), Catch::Contains("show too much to write down"));
}

}  // namespace
}  // namespace pacml
