// Placements of heuristics and searches against what an independent implementation of them found on
// the frozen test graphs (docs/placement.md). A few of its figures stand here; all of them are
// compared where the machine has them.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "env/graph/profile_reader.h"
#include "env/placement/families.h"
#include "env/placement/list_schedule.h"
#include "env/placement/placement_search.h"
#include "env/placement/profile_ops.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/recordings.h"

namespace pacml::env {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

fs::path shared(const std::string& relative) {
  return testing::source_path("").parent_path().parent_path() / "shared" / relative;
}

PlacementProblemPtr problem_of(OpGraphSpec spec, int devices, double bytes_per_us = 7600,
                               MemoryPenalty penalty = {}) {
  return std::make_shared<const PlacementProblem>(
      std::make_shared<const OpGraph>(std::move(spec)),
      std::make_shared<const DeviceSet>(
          DeviceSet::placeto(devices, {.bytes_per_us = bytes_per_us})),
      penalty);
}

struct RandomFigures {
  double mean = 0;
  double best = 0;
};

RandomFigures of_random(PlacementEvaluator& evaluator) {
  std::vector<double> runtimes;
  for (const auto& placement : random_placements(evaluator.problem(), 100, 7)) {
    runtimes.push_back(evaluator.runtime_s(placement));
  }
  const double sum = std::accumulate(runtimes.begin(), runtimes.end(), 0.0);
  return {sum / 100, *std::ranges::min_element(runtimes)};
}

// Figures of one problem by the names of the reference file.
json figures_of(const PlacementProblemPtr& problem) {
  PlacementEvaluator evaluator(problem);
  const GroupPlacement single = place_on_one(*problem, 0);
  const RandomFigures random = of_random(evaluator);
  return {{"single", evaluator.runtime_s(single)},
          {"level", evaluator.runtime_s(place_by_level(*problem))},
          {"contiguous", evaluator.runtime_s(place_contiguously(*problem))},
          {"heft", evaluator.runtime_s(list_schedule(*problem, ListRule::kHeft))},
          {"etf", evaluator.runtime_s(list_schedule(*problem, ListRule::kEtf))},
          {"random_mean", random.mean},
          {"random_best", random.best},
          {"descent_1", descend(evaluator, single, 1).runtime_s},
          {"descent_3", descend(evaluator, single, 3).runtime_s},
          {"sa_2000", anneal(evaluator, single, 2000, 1).runtime_s}};
}

void compare(const json& recorded, const PlacementProblemPtr& problem) {
  const json computed = figures_of(problem);
  for (const auto& [name, value] : computed.items()) {
    if (!recorded.contains(name)) continue;
    INFO(name);
    CHECK(value.get<double>() == Approx(recorded.at(name).get<double>()).epsilon(1e-9));
  }
  if (!recorded.contains("best_placement")) return;
  PlacementEvaluator evaluator(problem);
  const auto best = recorded.at("best_placement").get<GroupPlacement>();
  CHECK(evaluator.runtime_s(best) == Approx(recorded.at("best").get<double>()).epsilon(1e-12));
}

TEST_CASE("heuristics and searches find what they found elsewhere", "[golden][placement]") {
  const json recorded =
      testing::read_json(testing::source_path("tests/golden/placement/baselines.json"));
  REQUIRE(recorded.at("problems").size() >= 8);
  for (const json& row : recorded.at("problems")) {
    const auto spec =
        family_graph(row.at("family").get<std::string>(), row.at("seed").get<std::uint64_t>());
    INFO(row.at("family") << " " << row.at("seed") << ", devices " << row.at("devices"));
    CHECK(fingerprint(spec) == row.at("fingerprint").get<std::string>());
    compare(row, problem_of(spec, row.at("devices").get<int>()));
  }
}

TEST_CASE("all of the reference's figures are found, where present", "[golden][placement]") {
  if (!fs::exists(shared("reference/placement_baselines.json"))) {
    WARN("this test is skipped: this machine has no reference figures beside the project");
    return;
  }
  const json recorded = testing::read_json(shared("reference/placement_baselines.json"));
  CHECK(recorded.at("problems").size() == 128);
  for (const json& row : recorded.at("problems")) {
    const auto spec =
        family_graph(row.at("family").get<std::string>(), row.at("seed").get<std::uint64_t>());
    INFO(row.at("family") << " " << row.at("seed") << ", devices " << row.at("devices"));
    CHECK(fingerprint(spec) == row.at("fingerprint").get<std::string>());
    compare(row, problem_of(spec, row.at("devices").get<int>()));
  }
}

TEST_CASE("profiles are placed as the reference places them, where present",
          "[golden][placement]") {
  const fs::path figures = shared("reference/placement_baselines_pipedream.json");
  if (!fs::exists(figures) || !fs::is_directory(shared("graphs/pipedream"))) {
    WARN(
        "this test is skipped: this machine has no reference figures or profiles beside the "
        "project");
    return;
  }
  const json recorded = testing::read_json(figures);
  for (const json& row : recorded.at("problems")) {
    const auto model = row.at("model").get<std::string>();
    const auto profile = read_profile_file(shared("graphs/pipedream") / model / "graph.txt");
    const auto spec = profile_ops(profile, ProfilePass::kBoth);
    INFO(model << ", devices " << row.at("devices") << ", limit " << row.at("limit_gb"));
    CHECK(fingerprint(spec) == row.at("fingerprint").get<std::string>());
    MemoryPenalty penalty;
    if (!row.at("limit_gb").is_null()) {
      penalty.s_per_gb = 2;
      penalty.limit_gb = row.at("limit_gb").get<double>();
    }
    compare(row, problem_of(spec, row.at("devices").get<int>(),
                            row.at("bytes_per_us").get<double>(), penalty));
  }
}

TEST_CASE("the graphs of all families are the reference's, where present", "[golden][placement]") {
  if (!fs::exists(shared("reference/placement_fingerprints.json"))) {
    WARN("this test is skipped: this machine has no reference fingerprints beside the project");
    return;
  }
  const json recorded = testing::read_json(shared("reference/placement_fingerprints.json"));
  for (const auto& [family, graphs] : recorded.at("graphs").items()) {
    for (const auto& [number, row] : graphs.items()) {
      const auto spec = family_graph(family, std::stoull(number));
      INFO(family << " " << number);
      CHECK(spec.ops.size() == row.at(0).get<std::size_t>());
      CHECK(spec.edges.size() == row.at(1).get<std::size_t>());
      CHECK(fingerprint(spec) == row.at(2).get<std::string>());
    }
  }
}

}  // namespace
}  // namespace pacml::env
