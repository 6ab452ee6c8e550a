#include "env/tasks/device_placement/config.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "common/result.h"
#include "common/text.h"
#include "common/try_again.h"
#include "env/placement/device_presets.h"
#include "env/placement/families.h"
#include "env/tasks/device_placement/hidden_features.h"
#include "env/tasks/device_placement/observation.h"

namespace pacml::env {
namespace {

constexpr int kMostGraphs = 4096;  // that one message lists
constexpr int kMostRounds = 100;

// How many devices each set has. UserError: one cannot be read.
std::vector<std::size_t> numbers_of_devices(const DevicePlacementConfig& c) {
  std::vector<std::size_t> numbers;
  for (const std::string& name : c.devices) {
    const DevicesConfig devices = devices_config(name);
    numbers.push_back(devices.semantics == PlacementSemantics::kPlaceto
                          ? static_cast<std::size_t>(devices.placeto.count)
                          : devices.corrected.devices.size());
  }
  return numbers;
}

void add_unpublished(const DevicePlacementConfig& c, std::span<const std::size_t> devices,
                     std::vector<std::string>& problems) {
  for (const auto& [name, is_shown] :
       {std::pair{"what_if", c.what_if}, std::pair{"what_if_rest", c.what_if_rest}}) {
    if (!is_shown) continue;
    problems.push_back(std::string(name) +
                       ": is a device's to show, and shown: published shows none");
  }
  if (std::ranges::adjacent_find(devices, std::not_equal_to<>()) != devices.end()) {
    problems.emplace_back(
        "devices: with shown: published all must have as many devices, which have an output each; "
        "shown: devices takes any");
  }
}

void add_hidden(const DevicePlacementConfig& c, std::vector<std::string>& problems) {
  const auto names = names_of_features(c);
  for (const std::string& hidden : c.hidden) {
    if (std::ranges::find(names, hidden) != names.end()) continue;
    problems.push_back("hidden: \"" + hidden + "\" is not shown; there are " + join(names));
  }
}

}  // namespace

std::vector<std::string> validate(const MemoryPenalty& penalty) {
  std::vector<std::string> problems;
  if (!(penalty.s_per_gb >= 0 && penalty.s_per_gb <= 1e6)) {
    problems.emplace_back("s_per_gb: must be in 0..1e6");
  }
  if (penalty.limit_gb && !(*penalty.limit_gb > 0)) {
    problems.emplace_back("limit_gb: must be above 0");
  }
  if (!(penalty.cap_s > 0)) problems.emplace_back("cap_s: must be above 0");
  return problems;
}

std::vector<std::string> validate(const DevicePlacementConfig& c) {
  std::vector<std::string> problems;
  for (const std::string& family : c.families) {
    if (std::ranges::find(graph_families(), family) == graph_families().end()) {
      problems.push_back("families: there is no \"" + family + "\"");
    }
  }
  if (c.families.empty() && c.graphs.empty() && c.profiles.empty()) {
    problems.emplace_back("families: without one, graphs or profiles must be given");
  }
  if (c.first_graph < 0) problems.emplace_back("first_graph: must be 0 or more");
  if (c.num_graphs < 1 || c.num_graphs > kMostGraphs) {
    problems.push_back("num_graphs: must be in 1.." + std::to_string(kMostGraphs));
  }
  if (!c.models.empty() && c.profiles.empty()) {
    problems.emplace_back("models: are those of profiles, which is not set");
  }
  if (c.rounds < 1 || c.rounds > kMostRounds) {
    problems.push_back("rounds: must be in 1.." + std::to_string(kMostRounds));
  }
  if (c.devices.empty()) problems.emplace_back("devices: there must be some");
  try {
    const auto devices = numbers_of_devices(c);
    if (c.shown == ShownPlacements::kPublished) add_unpublished(c, devices, problems);
    if (!devices.empty()) add_hidden(c, problems);
  } catch (const TryAgainError&) {
    throw;
  } catch (const UserError& error) {
    problems.emplace_back(error.what());
  }
  return problems;
}

ObservationSpec observation_spec(const DevicePlacementConfig& c) {
  ObservationSpec spec;
  const auto devices = static_cast<std::uint32_t>(std::ranges::max(numbers_of_devices(c)));
  spec.candidates.most = devices;
  if (c.shown == ShownPlacements::kPublished) {
    spec.slots = {{.name = "groups",
                   .node_width = kPublishedGroupWidth,
                   .edge_width = 0,
                   .dynamic_width = published_dynamic_width(devices),
                   .focus = true}};
    return spec;
  }
  spec.slots = {{.name = "groups",
                 .node_width = kGroupWidth,
                 .edge_width = kGroupEdgeWidth,
                 .dynamic_width = static_cast<std::uint32_t>(group_dynamic_features().size()),
                 .focus = true}};
  spec.globals = placement_globals();
  spec.candidates.vary = true;
  spec.candidates.features = device_features(c.what_if, c.what_if_rest);
  return spec;
}

}  // namespace pacml::env
