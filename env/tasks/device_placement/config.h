#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/experience/observation_spec.h"
#include "env/placement/device_presets.h"
#include "env/placement/placement_problem.h"

namespace pacml::env {

// In which order an episode visits the groups of a graph.
enum class VisitOrder {
  kTopological,  // what became ready first comes first
  kLifo,         // ... last, as networkx up to 2.5 had it
  kRandom,       // a shuffle for each episode
};
constexpr auto enum_names(VisitOrder /*unused*/) {
  return std::to_array<EnumName<VisitOrder>>({{"topological", VisitOrder::kTopological},
                                              {"lifo", VisitOrder::kLifo},
                                              {"random", VisitOrder::kRandom}});
}

// Where everything is when an episode begins.
enum class StartPlacement {
  kSingle,        // on the first device
  kRandom,        // each group anywhere, drawn once for each problem
  kRandomAlways,  // ... and anew in each episode
  kListSchedule,  // as the better of HEFT and ETF has it
};
constexpr auto enum_names(StartPlacement /*unused*/) {
  return std::to_array<EnumName<StartPlacement>>(
      {{"single", StartPlacement::kSingle},
       {"random", StartPlacement::kRandom},
       {"random_always", StartPlacement::kRandomAlways},
       {"list_schedule", StartPlacement::kListSchedule}});
}

// What a step is worth, in units of what everything on one device takes. R_i is the runtime after
// step i.
enum class PlacementReward {
  kImprovement,  // R_i - R_{i+1}
  kBestSoFar,    // by how much R_{i+1} is better than all before it: what can be known at once of
                 // the published best_later, R_i - min(R_{i+1} .. R_T)
  kTerminal,     // -R_T at the end, else 0
};
constexpr auto enum_names(PlacementReward /*unused*/) {
  return std::to_array<EnumName<PlacementReward>>({{"improvement", PlacementReward::kImprovement},
                                                   {"best_so_far", PlacementReward::kBestSoFar},
                                                   {"terminal", PlacementReward::kTerminal}});
}

// What decisions show.
enum class ShownPlacements {
  kDevices,    // every device as a candidate, of which there may be any number
  kPublished,  // what Placeto's network reads, of groups alone; as many devices for all graphs
};
constexpr auto enum_names(ShownPlacements /*unused*/) {
  return std::to_array<EnumName<ShownPlacements>>(
      {{"devices", ShownPlacements::kDevices}, {"published", ShownPlacements::kPublished}});
}

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, MemoryPenalty>
void visit_fields(Config& c, Visitor&& v) {
  v("s_per_gb", c.s_per_gb);
  v("limit_gb", c.limit_gb);
  v("cap_s", c.cap_s);
}
[[nodiscard]] std::vector<std::string> validate(const MemoryPenalty& penalty);

// The device placement task (Placeto, arXiv:1906.08879): an episode visits the groups of one graph
// one after another; a step chooses the device of the one that it is at.
struct DevicePlacementConfig {
  // Graphs, all of these together: drawn ones of each family, number first_graph and so many from
  // there (env/placement/families.h); files (env/placement/op_graph_json.h); training steps of the
  // models in `profiles`, a folder of <model>/graph.txt, all of them where none is named.
  std::vector<std::string> families = {"branch", "cell", "grid", "layered"};
  int first_graph = 0;
  int num_graphs = 32;
  std::vector<std::string> graphs;
  std::string profiles;
  std::vector<std::string> models;
  // Each graph on each of these (env/placement/device_presets.h).
  std::vector<std::string> devices = {"placeto:2", "placeto:4"};
  MemoryPenalty penalty = {};
  VisitOrder order = VisitOrder::kTopological;
  StartPlacement start = StartPlacement::kSingle;
  PlacementReward reward = PlacementReward::kImprovement;
  int rounds = 1;  // through all groups
  ShownPlacements shown = ShownPlacements::kDevices;
  // Each candidate also shows what the whole would take with the group moved there, which costs a
  // simulation for each device at every step.
  bool what_if = false;
  // ... and what it would take with the group there and all that the round has still to visit
  // placed behind it as a list schedule would (env/placement/placing_rest.h), which costs another.
  bool what_if_rest = false;
  // What decisions would show and do not, to find out what it is worth: "group.start",
  // "device.finish" (env/tasks/device_placement/hidden_features.h).
  std::vector<std::string> hidden;
  bool operator==(const DevicePlacementConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, DevicePlacementConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("families", c.families);
  v("first_graph", c.first_graph);
  v("num_graphs", c.num_graphs);
  v("graphs", c.graphs);
  v("profiles", c.profiles);
  v("models", c.models);
  v("devices", c.devices);
  v("penalty", c.penalty);
  v("order", c.order);
  v("start", c.start);
  v("reward", c.reward);
  v("rounds", c.rounds);
  v("shown", c.shown);
  v("what_if", c.what_if);
  v("what_if_rest", c.what_if_rest);
  v("hidden", c.hidden);
}

template <class Visitor>
void visit_paths(DevicePlacementConfig& c, Visitor&& v) {
  for (std::string& file : c.graphs) v(file);
  for (std::string& name : c.devices) {
    if (names_devices_file(name)) v(name);
  }
}

[[nodiscard]] std::vector<std::string> validate(const DevicePlacementConfig& config);

// What a decision shows: the graph's groups with where and when they ran, the one that is to be
// placed as the focus, and the devices as candidates, as many as there are; or with shown:
// published the features of env/placement/placeto_mdp.h. Pre: validate() finds no problem.
[[nodiscard]] ObservationSpec observation_spec(const DevicePlacementConfig& config);

}  // namespace pacml::env
