#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/tasks/device_placement/task.h"
#include "tests/support/catch.h"
#include "tests/support/environment_contract.h"
#include "tests/support/golden.h"

// The environment contract on the device placement task, one configuration a line.

namespace pacml::env {
namespace {

using Change = void (*)(DevicePlacementConfig&);

DevicePlacementConfig base() {
  DevicePlacementConfig c;
  c.num_graphs = 3;
  return c;
}

const std::vector<std::pair<std::string, Change>> kConfigs = {
    {"all families on two and four devices", [](DevicePlacementConfig&) {}},
    {"a random order and random starts, two rounds",
     [](DevicePlacementConfig& c) {
       c.order = VisitOrder::kRandom;
       c.start = StartPlacement::kRandomAlways;
       c.rounds = 2;
     }},
    {"what would be is shown, the best so far is rewarded",
     [](DevicePlacementConfig& c) {
       c.families = {"layered"};
       c.what_if = true;
       c.what_if_rest = true;
       c.hidden = {"group.end", "device.gain"};
       c.reward = PlacementReward::kBestSoFar;
       c.start = StartPlacement::kRandom;
     }},
    {"one device, the end is rewarded",
     [](DevicePlacementConfig& c) {
       c.devices = {"placeto:1"};
       c.order = VisitOrder::kLifo;
       c.reward = PlacementReward::kTerminal;
     }},
    {"what the published network reads, two rounds",
     [](DevicePlacementConfig& c) {
       c.devices = {"placeto:3"};
       c.shown = ShownPlacements::kPublished;
       c.rounds = 2;
     }},
    {"profiles, links and memory as they are", [](DevicePlacementConfig& c) {
       c.families.clear();
       c.profiles = testing::source_path("tests/golden/env/graphs").string();
       c.devices = {"a100x8_two_hosts"};
       c.penalty = {.s_per_gb = 2, .limit_gb = 0.1};
       c.what_if = true;
     }}};

TEST_CASE("device placement keeps the environment contract", "[conformance][env]") {
  for (const auto& [name, change] : kConfigs) {
    INFO(name);
    DevicePlacementConfig config = base();
    change(config);
    const auto task = std::make_shared<const DevicePlacementTask>(config);
    for (const std::uint64_t seed : {21U, 210U}) {
      CAPTURE(seed);
      testing::check_environment_contract(task->make_factory(), Seed{seed});
    }
  }
}

}  // namespace
}  // namespace pacml::env
