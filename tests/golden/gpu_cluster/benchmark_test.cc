// The rules on job lists made from real traces: average completion times that an independent
// implementation computed, where the machine has them.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/trace/trace_replay.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace pacml {
namespace {

using nlohmann::json;

// By the names under which their results are recorded.
const json& policies() {
  static const json kPolicies = json::parse(R"({
    "fifo_first_fit": {"order": "fifo", "place": "first_fit"},
    "random": {"order": "fifo", "place": "random", "strict": false, "spread": false,
               "share": "fallback", "window": 64},
    "load_balancing": {"order": "fifo", "place": "least_loaded", "strict": false, "spread": false,
                       "window": 64},
    "drf": {"order": "drf", "place": "best_fit", "spread": false},
    "tetris": {"order": "tetris", "place": "tetris", "spread": false, "window": 16},
    "fifo_backfill_best_fit": {"order": "fifo", "place": "best_fit", "strict": false,
                               "spread": false, "window": 64},
    "fifo_least_interference": {"order": "fifo", "place": "least_interference", "strict": false,
                                "spread": false, "share": "fallback", "window": 32},
    "srtf_best_fit": {"order": "srtf", "place": "best_fit", "strict": false, "spread": false,
                      "window": 64},
    "srsf_best_fit": {"order": "srsf", "place": "best_fit", "strict": false, "spread": false,
                      "window": 64},
    "srtf_least_interference": {"order": "srtf", "place": "least_interference", "strict": false,
                                "spread": false, "share": "fallback", "window": 32},
    "srtf_least_interference_1.4": {"order": "srtf", "place": "least_interference",
                                    "strict": false, "spread": false, "share": "fallback",
                                    "gain": 1.4, "window": 32},
    "srtf_least_delay_1.4": {"order": "srtf", "place": "least_delay", "strict": false,
                             "spread": false, "share": "fallback", "gain": 1.4, "window": 32}
  })");
  return kPolicies;
}

json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file);
  return json::parse(file);
}

// Results of another, quicker program stand beside them, to six decimals.
bool is_rounded(double jct) { return jct * 1e6 == std::round(jct * 1e6); }

TEST_CASE("rules finish real jobs when an independent simulator says, where present",
          "[golden][gpu_cluster]") {
  const auto folder =
      testing::source_path("").parent_path().parent_path() / "shared" / "traces" / "bench";
  if (!std::filesystem::exists(folder / "baselines.json")) {
    WARN("this test is skipped: this machine has no job lists of real traces beside the project");
    return;
  }
  const json results = read_json(folder / "baselines.json").at("avg_jct");
  int compared = 0;
  for (const auto& [name, of_policies] : results.items()) {
    std::string file = name + ".json";
    std::ranges::replace(file, '/', '_');
    if (!std::filesystem::exists(folder / file)) continue;
    json document = read_json(folder / file);
    document["format"] = "cluster-golden-1";
    for (const auto& [policy, jct] : of_policies.items()) {
      if (!policies().contains(policy) || is_rounded(jct)) continue;
      CAPTURE(name, policy);
      document["config"]["policy"] = policies()[policy];
      const json metrics = apps::replay_trace(document, "").at("metrics");
      CHECK(metrics.at("unfinished") == 0);
      CHECK(metrics.at("avg_jct").get<double>() == Approx(jct.get<double>()).epsilon(1e-9));
      ++compared;
    }
  }
  CHECK(compared >= 100);
}

}  // namespace
}  // namespace pacml
