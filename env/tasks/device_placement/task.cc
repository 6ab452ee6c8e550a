#include "env/tasks/device_placement/task.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "common/result.h"
#include "common/try_again.h"
#include "env/graph/profile_hash.h"
#include "env/graph/profile_library.h"
#include "env/placement/device_presets.h"
#include "env/placement/families.h"
#include "env/placement/list_schedule.h"
#include "env/placement/op_graph_json.h"
#include "env/placement/profile_ops.h"
#include "env/tasks/device_placement/baselines.h"
#include "env/tasks/device_placement/environment.h"
#include "env/tasks/device_placement/observation.h"

namespace pacml::env {
namespace {

constexpr std::size_t kMostProblems = 4096;  // graphs that one message lists
constexpr std::uint64_t kStartSeed = 0x706c6163656d656eULL;

std::vector<DeviceSetPtr> device_sets(const DevicePlacementConfig& config) {
  std::vector<DeviceSetPtr> sets;
  for (const std::string& name : config.devices) {
    sets.push_back(std::make_shared<const DeviceSet>(devices_config(name)));
  }
  return sets;
}

// What is read from files is called as they are, wherever they lie: that may differ from host to
// host. Of two that are called alike the second has a number. Names that are no files stay.
std::vector<std::string> without_folders(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  std::map<std::string, int> called;
  for (const std::string& file : files) {
    std::string name = std::filesystem::path(file).filename().string();
    const int times = ++called[name];
    if (times > 1) name += " (" + std::to_string(times) + ")";
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<MetricSpec> placement_metrics() {
  return {{"relative_runtime", "runtime / one device", "of one device", Better::kLower, 4, {}},
          {"best_relative_runtime", "best on the way", "of one device", Better::kLower, 4, {}},
          {"runtime_s", "runtime s", "s", Better::kLower, 5, {}},
          {"simulations", "simulations", "1", Better::kNeither, 0, {}},
          {"over_memory_gb", "over memory GB", "GB", Better::kLower, 3, {}}};
}

}  // namespace

DevicePlacementTask::DevicePlacementTask(const DevicePlacementConfig& config)
    : config_(config), device_names_(without_folders(config.devices)) {
  if (const auto found = validate(config); !found.empty()) {
    throw UserError("env: " + found.front());
  }
  const auto sets = device_sets(config);
  for (const std::string& family : config.families) {
    for (int i = 0; i < config.num_graphs; ++i) {
      const auto number =
          static_cast<std::uint64_t>(config.first_graph) + static_cast<std::uint64_t>(i);
      add(std::make_shared<const OpGraph>(family_graph(family, number)),
          family + " " + std::to_string(number), sets);
    }
  }
  const auto graph_names = without_folders(config.graphs);
  for (std::size_t i = 0; i < config.graphs.size(); ++i) {
    const std::string& file = config.graphs[i];
    try {
      add(std::make_shared<const OpGraph>(read_op_graph(file)), graph_names[i], sets);
    } catch (const TryAgainError&) {
      throw;
    } catch (const UserError& error) {
      const std::string what = error.what();
      throw UserError(what.starts_with(file) ? what : file + ": " + what);
    }
  }
  if (!config.profiles.empty()) {
    const auto profiles = load_profiles(config.profiles, config.models);
    spec_.inputs["env.profiles"] = profile_hash(profiles);
    for (const Profile& profile : profiles) {
      OpGraphSpec graph = profile_ops(profile, ProfilePass::kBoth);
      try {
        require_time(graph);
        add(std::make_shared<const OpGraph>(std::move(graph)), profile.model, sets);
      } catch (const UserError& error) {
        const std::string what = error.what();
        throw UserError(what.starts_with("env: ") ? what : "env: " + profile.model + ": " + what);
      }
    }
  }
  for (const std::string& file : config.graphs) spec_.add_input("env.graphs", file);
  for (const std::string& name : config.devices) {
    std::error_code none;  // a pipe has been read once, and has no more
    if (names_devices_file(name) && std::filesystem::is_regular_file(name, none)) {
      spec_.add_input("env.devices", name);
    }
  }
  spec_.task = "device_placement";
  spec_.observation = observation_spec(config);
  hidden_ = HiddenFeatures(config);
  spec_.metrics = placement_metrics();
}

void DevicePlacementTask::add(const OpGraphPtr& graph, const std::string& name,
                              const std::vector<DeviceSetPtr>& devices) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (problems_.size() == kMostProblems) {
      throw UserError("env: there are more than " + std::to_string(kMostProblems) +
                      " graphs, each on every set of devices");
    }
    PlacementTaskProblem entry;
    entry.name = name + " on " + device_names_[i];
    try {
      entry.problem = std::make_shared<const PlacementProblem>(graph, devices[i], config_.penalty);
    } catch (const UserError& error) {
      throw UserError("env: " + entry.name + ": " + error.what());
    }
    PlacementEvaluator evaluator(entry.problem);
    entry.single_s =
        evaluator.runtime_s(place_on_one(*entry.problem, best_single_device(*entry.problem)));
    if (config_.start == StartPlacement::kSingle) {
      entry.start = place_on_one(*entry.problem, 0);
    } else if (config_.start == StartPlacement::kRandom) {
      entry.start =
          random_placements(*entry.problem, 1, mix64(kStartSeed + problems_.size())).front();
    } else if (config_.start == StartPlacement::kListSchedule) {
      entry.start = better_list_schedule(evaluator);
    }
    spec_.graphs.push_back(config_.shown == ShownPlacements::kPublished
                               ? published_group_features(*entry.problem)
                               : group_features(*entry.problem));
    spec_.graph_names.push_back(entry.name);
    problems_.push_back(std::move(entry));
  }
}

EnvironmentFactory DevicePlacementTask::make_factory() const {
  return [task = shared_from_this(),
          evaluators = std::make_shared<PlacementEvaluators>()]() -> std::unique_ptr<Environment> {
    return std::make_unique<DevicePlacementEnv>(task, evaluators);
  };
}

std::vector<Baseline> DevicePlacementTask::baselines() const {
  return device_placement_baselines();
}

std::unique_ptr<Agent> DevicePlacementTask::make_agent(std::string_view name) const {
  return make_device_placement_agent(name);
}

std::unique_ptr<Agent> DevicePlacementTask::refined(std::unique_ptr<Agent> agent,
                                                    std::optional<std::int64_t> simulations) const {
  return make_refined_agent(std::move(agent), simulations);
}

}  // namespace pacml::env
