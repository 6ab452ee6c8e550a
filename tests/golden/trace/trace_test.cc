// Replays recorded runs and compares every recorded quantity. Two sets: our own, made by an
// independent implementation (tests/golden/env), and the reference recordings, where the machine
// has them.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/trace/trace_replay.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/recordings.h"
#include "tests/support/source_path.h"

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Collects the differences between a recorded and a recomputed document.
class Comparison {
 public:
  void compare(const json& recorded, const json& replayed, const std::string& at,
               double tolerance) {
    if (recorded.is_number() && replayed.is_number()) {
      ++values_;
      const double a = recorded.get<double>();
      const double b = replayed.get<double>();
      if (std::abs(a - b) > tolerance * std::max(std::abs(a), std::abs(b)))
        differ(at, recorded, replayed);
    } else if (recorded.is_object() && replayed.is_object()) {
      compare_objects(recorded, replayed, at, tolerance);
    } else if (recorded.is_array() && replayed.is_array()) {
      if (recorded.size() != replayed.size()) {
        differ(at + " (length)", recorded.size(), replayed.size());
        return;
      }
      for (std::size_t i = 0; i < recorded.size(); ++i) {
        compare(recorded[i], replayed[i], at + "[" + std::to_string(i) + "]", tolerance);
      }
    } else {
      ++values_;
      if (recorded != replayed) differ(at, recorded, replayed);
    }
  }
  [[nodiscard]] std::size_t values() const { return values_; }
  [[nodiscard]] const std::vector<std::string>& differences() const { return differences_; }

 private:
  void compare_objects(const json& recorded, const json& replayed, const std::string& at,
                       double tolerance) {
    for (const auto& [key, value] : recorded.items()) {
      const std::string here = at.empty() ? key : at + "." + key;
      // float32 quantities are rounded once more than the rest.
      const bool single = key == "graph_features" || key == "obs_static";
      if (!replayed.contains(key)) {
        differ(here, value, "absent");
      } else {
        compare(value, replayed[key], here, single ? 1e-6 : tolerance);
      }
    }
    for (const auto& [key, value] : replayed.items()) {
      if (!recorded.contains(key)) differ(at + "." + key, "absent", value);
    }
  }
  void differ(const std::string& at, const json& recorded, const json& replayed) {
    if (differences_.size() >= 5) return;
    differences_.push_back(at + ": recorded " + recorded.dump().substr(0, 60) + ", replayed " +
                           replayed.dump().substr(0, 60));
  }

  std::size_t values_ = 0;
  std::vector<std::string> differences_;
};

void replay_all(const std::vector<fs::path>& files, const fs::path& profiles) {
  for (const auto& file : files) {
    const json recorded = pacml::testing::read_json(file);
    const json replayed = pacml::apps::replay_trace(recorded, profiles.string());
    Comparison comparison;
    comparison.compare(recorded, replayed, "", 1e-9);
    INFO(file.filename().string());
    for (const auto& difference : comparison.differences()) UNSCOPED_INFO(difference);
    CHECK(comparison.values() > 300);
    CHECK(comparison.differences().empty());
  }
}

}  // namespace

TEST_CASE("recordings of an independent simulator are reproduced", "[golden][trace]") {
  const fs::path data = pacml::testing::source_path("tests/golden/env");
  const auto files = pacml::testing::recordings_in(data);
  REQUIRE(files.size() >= 8);
  replay_all(files, data / "graphs");
}

TEST_CASE("the reference recordings are reproduced, where present", "[golden][trace]") {
  const fs::path shared = pacml::testing::source_path("../shared");
  const auto files = pacml::testing::recordings_in(shared / "golden");
  if (files.empty()) {
    WARN("this test is skipped: this machine has no reference recordings beside the project");
    return;
  }
  replay_all(files, shared / "graphs" / "pipedream");
}

TEST_CASE("what was recorded of a job that is not placed in the replay is not taken over",
          "[golden][trace]") {
  const fs::path data = pacml::testing::source_path("tests/golden/env");
  const std::string profiles = (data / "graphs").string();
  json recorded = pacml::testing::read_json(data / "g01_degrees.off.json");
  recorded["partitioned"]["diamond@2"]["job_idx"] = 2;  // is placed at another degree
  const json replayed = pacml::apps::replay_trace(recorded, profiles);
  const json& asked = recorded["partitioned"]["diamond@2"];
  const json& answered = replayed["partitioned"]["diamond@2"];
  CHECK(answered.size() == asked.size());
  for (const auto& [key, value] : answered.items()) {
    INFO(key);
    const bool is_kept = key == "model" || key == "max_partitions_per_op" || key == "job_idx";
    CHECK(value == (is_kept ? asked.at(key) : json()));
  }
  Comparison other;
  other.compare(recorded["partitioned"]["diamond@4"], replayed["partitioned"]["diamond@4"], "",
                1e-9);
  CHECK(other.differences().empty());
  CHECK(pacml::apps::replay_trace(replayed, profiles) == replayed);
}

TEST_CASE("a reward that a class does not give is refused", "[golden][trace]") {
  const fs::path data = pacml::testing::source_path("tests/golden/env");
  json recorded = pacml::testing::read_json(data / "g01_degrees.off.json");
  const auto replay = [&](const char* cls, const json& fail_reward) -> std::string {
    json reward = {{"cls", cls}};
    reward["kwargs"]["fail_reward"] = fail_reward;
    recorded["rewards_config"] = json::object();
    recorded["rewards_config"]["mine"] = reward;
    try {
      static_cast<void>(pacml::apps::replay_trace(recorded, (data / "graphs").string()));
    } catch (const pacml::UserError& error) {
      return error.what();
    }
    return "replayed";
  };
  const std::string sequential = "job_sequential_completion_time";
  CHECK(replay("JobAcceptance", -3) == "replayed");
  CHECK(replay("LookaheadJobCompletionTime", sequential) == "replayed");
  CHECK(replay("LookaheadJobCompletionTime", -3) ==
        "reward \"mine\": fail_reward can only be \"job_sequential_completion_time\", found -3");
  for (const char* cls : {"MultiObjectiveJCTBlocking", "MeanComputeThroughput",
                          "MeanClusterThroughput", "MeanDemandTotalThroughput"}) {
    INFO(cls);
    CHECK(replay(cls, -3) ==
          "reward \"mine\" has a \"fail_reward\", which its class does not take");
  }
}

TEST_CASE("a comparison notices a changed figure, a missing key and an extra one",
          "[golden][trace]") {
  const json recorded = {{"a", 1.0}, {"b", {1, 2}}, {"c", "x"}};
  const auto count = [&](const json& other) {
    Comparison comparison;
    comparison.compare(recorded, other, "", 1e-9);
    return comparison.differences().size();
  };
  CHECK(count(recorded) == 0);
  CHECK(count({{"a", 1.0 + 1e-8}, {"b", {1, 2}}, {"c", "x"}}) == 1);
  CHECK(count({{"a", 1.0}, {"b", {1, 2, 3}}, {"c", "x"}}) == 1);
  CHECK(count({{"a", 1.0}, {"b", {1, 2}}}) == 1);
  CHECK(count({{"a", 1.0}, {"b", {1, 2}}, {"c", "x"}, {"d", 0}}) == 1);
}
