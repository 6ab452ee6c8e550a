// Replays recorded placements and compares every recorded quantity. Two sets: our own, made by an
// independent implementation (make_golden.py), and the reference recordings, where the machine has
// them.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/trace/trace_replay.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace pacml {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// What is computed with exponentials and many sums; everything else is to the last bit.
bool is_rounded(std::string_view key) {
  return key == "logits" || key == "logp" || key == "entropy";
}

// How far numbers may differ, as a share of them: nothing, but for what is rounded.
struct Tolerance {
  double exact = 0;
  double rounded = 1e-9;
  double least = 1;  // smaller numbers may differ by as much as this one
};

// The first difference, as a sentence; empty: none.
std::string difference(const json& recorded, const json& replayed, const std::string& at,
                       const Tolerance& tolerance = {}, bool rounded = false) {
  if (recorded.is_number() && replayed.is_number()) {
    const double a = recorded.get<double>();
    const double b = replayed.get<double>();
    const double share = rounded ? tolerance.rounded : tolerance.exact;
    const double size = std::max({tolerance.least, std::abs(a), std::abs(b)});
    if (std::abs(a - b) <= share * size) return {};
  } else if (recorded.is_array() && replayed.is_array()) {
    if (recorded.size() != replayed.size()) return at + " has another length";
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      auto found = difference(recorded[i], replayed[i], at + "[" + std::to_string(i) + "]",
                              tolerance, rounded);
      if (!found.empty()) return found;
    }
    return {};
  } else if (recorded.is_object() && replayed.is_object()) {
    if (recorded.size() != replayed.size()) return at + " has other members";
    for (const auto& [key, value] : recorded.items()) {
      if (!replayed.contains(key)) return at + "." + key + " is absent";
      auto found = difference(value, replayed[key], at + "." + key, tolerance, is_rounded(key));
      if (!found.empty()) return found;
    }
    return {};
  } else if (recorded == replayed) {
    return {};
  }
  return at + ": recorded " + recorded.dump().substr(0, 60) + ", replayed " +
         replayed.dump().substr(0, 60);
}

json read_json(const fs::path& path) {
  std::ifstream file(path);
  REQUIRE(file);
  return json::parse(file);
}

std::vector<fs::path> recordings_in(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Every number that a simulation or a network gave, somewhere else.
void spoil(json& value) {
  if (value.is_number()) value = value.get<double>() * 1.5 + 1;
  if (value.is_structured()) {
    for (json& part : value) spoil(part);
  }
}

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
constexpr Tolerance kTraining{.exact = 1e-6, .rounded = 1e-6, .least = 1e-3};

std::size_t replay_all(const std::vector<fs::path>& files) {
  std::size_t replayed = 0;
  for (const fs::path& file : files) {
    const json recorded = read_json(file);
    const bool is_training = recorded.at("format") == "pacml-placement-training/1";
    if (!is_training && recorded.at("format") != "pacml-placement/1") continue;
    const Tolerance tolerance = is_training ? kTraining : Tolerance{};
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
    WARN("skipped: this machine has no reference recordings beside the project");
    return;
  }
  CHECK(replay_all(files) >= 54);
}

TEST_CASE("a comparison of placements notices a changed figure and a missing one",
          "[golden][placement]") {
  const json recorded = {{"a", {{"start_us", {1.0, 2.0}}, {"logits", {0.5}}}}};
  CHECK(difference(recorded, recorded, "") == "");
  json changed = recorded;
  changed["a"]["start_us"][1] = std::nextafter(2.0, 3.0);
  CHECK(difference(recorded, changed, "") != "");
  changed = recorded;
  changed["a"]["logits"][0] = 0.5 + 1e-8;
  CHECK(difference(recorded, changed, "") != "");
  changed = recorded;
  changed["a"].erase("logits");
  CHECK(difference(recorded, changed, "") != "");
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
    CHECK(difference(recorded, replay(brief), "") == "");
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

}  // namespace
}  // namespace pacml
