#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/experience/observation_spec.h"
#include "env/graph_features.h"
#include "env/placement/placement_problem.h"
#include "env/placement/placeto_mdp.h"
#include "env/placement/placing_schedule.h"

// What decisions of the device placement task show. Times are in units of what the whole takes
// now, so that graphs of any length look alike.

namespace pacml::env {

[[nodiscard]] std::vector<FeatureSpec> placement_globals();
// Of a device; `what_if`: with what would be if the group were moved there; `what_if_rest`: and the
// rest placed behind it.
[[nodiscard]] std::vector<FeatureSpec> device_features(bool what_if, bool what_if_rest);
inline constexpr std::uint32_t kGroupWidth = 6;  // static features of a group
// ... and those that change.
[[nodiscard]] std::vector<FeatureSpec> group_dynamic_features();
inline constexpr std::uint32_t kGroupEdgeWidth = 1;
// With shown: published, those of placeto_features() without memory: cost and output never change.
inline constexpr std::uint32_t kPublishedGroupWidth = 2;
[[nodiscard]] constexpr std::uint32_t published_dynamic_width(std::uint32_t devices) {
  return static_cast<std::uint32_t>(placeto_width(devices, false)) - kPublishedGroupWidth;
}

// A problem's groups as a graph: cost, output, longest way from a source and to a sink, numbers of
// parents and children; of an edge, what its data takes to another device. Pure.
[[nodiscard]] GraphFeaturesPtr group_features(const PlacementProblem& problem);
// The same with shown: published: cost and output, as shares of the greatest, and bare edges.
[[nodiscard]] GraphFeaturesPtr published_group_features(const PlacementProblem& problem);

// A state of an episode, as decisions show it.
struct PlacementState {
  std::span<const std::int32_t> device;   // [groups]
  std::span<const std::uint8_t> visited;  // [groups], in this round
  int rounds_done = 0;
  std::size_t focus = 0;  // the group that is to be placed
  // Of the last simulation.
  std::span<const double> start_us;  // [groups], of the first operation to start
  std::span<const double> end_us;    // [groups], of the last to end
  // [groups], of the operation that leads the group; needed by look_at_published alone.
  std::span<const double> leader_start_us;
  std::span<const double> peak_bytes;  // [devices]; empty: not simulated
  double runtime_s = 0;
  double single_s = 0;  // what everything on one device takes
  double best_s = 0;    // of this episode
  double progress = 0;  // share of its steps
  // Of the groups that this round has placed; needed by look_at alone.
  const PlacingSchedule* placed = nullptr;
  // [devices], seconds with the focus moved there; empty where that is not shown.
  std::span<const double> what_if_s;
  // The same with what the round has still to visit placed behind it.
  std::span<const double> what_if_rest_s;
};

// As a row of observations has it. Value type; keeps its memory.
struct ShownPlacement {
  std::vector<float> nodes;    // [groups, group_dynamic_features()]
  std::vector<float> globals;  // [placement_globals()]
  std::vector<float> devices;  // [devices, device_features()]
  std::uint32_t focus = 0;
  // O(groups * devices). Pure but for this.
  void look_at(const PlacementProblem& problem, const PlacementState& state);
  // With shown: published: neither globals nor devices. A group starts when its leader does.
  void look_at_published(const PlacementProblem& problem, const PlacementState& state);
};

}  // namespace pacml::env
