#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/tasks/placement_shaping/environment.h"
#include "tests/support/catch.h"
#include "tests/support/environment_contract.h"
#include "tests/support/forgetful_memos.h"
#include "tests/support/golden.h"

// The environment contract on the placement shaping task, one configuration a line.

namespace pacml::env {
namespace {

using Change = void (*)(PlacementShapingConfig&);

PlacementShapingConfig base() {
  PlacementShapingConfig c;
  c.profiles = testing::source_path("tests/golden/env/graphs").string();
  c.workload.replication_factor = 20;
  c.workload.interarrival.value = 60;
  c.cluster.max_simulation_time = 6000;
  return c;
}

const std::vector<std::pair<std::string, Change>> kConfigs = {
    {"maximum parallelisation", [](PlacementShapingConfig&) {}},
    {"a random degree", [](PlacementShapingConfig& c) { c.degree = "random"; }},
    {"the smallest feasible degree, corrected semantics, random arrivals",
     [](PlacementShapingConfig& c) {
       c.degree = "min_feasible";
       c.semantics = Semantics::kCorrected;
       c.workload.interarrival = {.kind = DistributionKind::kUniform, .min = 20, .max = 100};
     }},
    {"degree and block at once, 3x3x3",
     [](PlacementShapingConfig& c) {
       c.joint = true;
       c.ramp.topology = {3, 3, 3};
     }},
    {"few blocks are offered, each job once", [](PlacementShapingConfig& c) {
       c.joint = true;
       c.max_blocks = 2;
       c.workload.sampling = Sampling::kRemove;
       c.time_limit = TimeLimit::kTerminated;
     }}};

TEST_CASE("placement shaping keeps the environment contract", "[conformance][env]") {
  for (const auto& [name, change] : kConfigs) {
    INFO(name);
    PlacementShapingConfig config = base();
    change(config);
    const auto task = std::make_shared<const PlacementShapingTask>(config);
    for (const std::uint64_t seed : {21U, 210U}) {
      CAPTURE(seed);
      testing::check_environment_contract(task->make_factory(), Seed{seed});
    }
  }
}

TEST_CASE("placement shaping's episodes do not depend on what is remembered",
          "[conformance][env]") {
  bool forgot = false;
  for (const auto& [name, change] : kConfigs) {
    INFO(name);
    PlacementShapingConfig config = base();
    change(config);
    const auto task = std::make_shared<const PlacementShapingTask>(config);
    const auto lasting = task->make_memos();
    const auto forgetful = testing::forgetful_memos(*task);
    PlacementShapingEnv expected(task, lasting);
    PlacementShapingEnv actual(task, forgetful);
    for (const std::uint64_t seed : {21U, 210U}) {
      CAPTURE(seed);
      REQUIRE(testing::play_episode(actual, Seed{seed}) ==
              testing::play_episode(expected, Seed{seed}));
    }
    forgot |= forgetful->of(0)->counters().lookaheads > lasting->of(0)->counters().lookaheads;
  }
  CHECK(forgot);
}

}  // namespace
}  // namespace pacml::env
