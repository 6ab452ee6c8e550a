#include "apps/evaluation/policy_list.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>

#include "apps/evaluation/trained_run.h"
#include "apps/run/run_directory.h"
#include "common/result.h"
#include "common/text.h"

namespace pacml::apps {
namespace {

constexpr int kTuningEpisodes = 5;

const std::vector<std::string>& baselines() {
  static const std::vector<std::string> kNames = {"para_max", "para_min",      "min_parallelism",
                                                  "random",   "best_constant", "min_feasible"};
  return kNames;
}

NamedPolicy heuristic(const std::string& shown, const std::string& name) {
  static_cast<void>(env::make_heuristic(name));  // complains now, not in a thread
  return {shown, [name](const env::EnvironmentSpec&) { return env::make_heuristic(name); }};
}

NamedPolicy trained(const std::string& name, const env::PartitioningWorld& world) {
  auto run = std::make_shared<const TrainedRun>(load_trained_run(name, world.spec()));
  std::cerr << run->warning;
  return {name, [run](const env::EnvironmentSpec& spec) {
            return std::make_unique<TrainedPolicy>(run->shape, run->parameters, spec.graphs);
          }};
}

// Where the name ends that begins at `begin`: at a comma, unless it belongs to a folder's name. The
// longest folder that is there counts.
std::size_t end_of_name(const std::string& list, std::size_t begin) {
  const std::size_t first = std::min(list.find(',', begin), list.size());
  for (std::size_t end = list.size(); end > first; end = list.rfind(',', end - 1)) {
    std::error_code none;
    if (std::filesystem::is_directory(list.substr(begin, end - begin), none)) return end;
  }
  return first;
}

}  // namespace

std::vector<std::string> split_names(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const auto& list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = end_of_name(list, begin);
      const std::string name = list.substr(begin, end - begin);
      begin = end + 1;
      if (name.empty()) throw UserError("--policy " + list + ": a name is empty");
      if (name == "baselines") {
        names.insert(names.end(), baselines().begin(), baselines().end());
      } else {
        names.push_back(name);
      }
    }
  }
  return names.empty() ? baselines() : names;
}

std::vector<NamedPolicy> name_policies(const std::vector<std::string>& names,
                                       const TrainConfig& config,
                                       const std::vector<env::Profile>& profiles, int threads) {
  const env::PartitioningWorld world(config.env, profiles);
  std::vector<NamedPolicy> policies;
  for (const auto& name : names) {
    if (name == "best_constant") {
      const int degree =
          best_constant_degree(config.env, profiles, Seed{static_cast<std::uint64_t>(config.seed)},
                               kTuningEpisodes, threads);
      const std::string constant = "constant:" + std::to_string(degree);
      policies.push_back(heuristic("best_" + constant, constant));
    } else if (env::is_heuristic(name)) {
      policies.push_back(heuristic(name, name));
    } else if (std::error_code none; std::filesystem::is_directory(name, none)) {
      policies.push_back(trained(name, world));
    } else {
      std::vector<std::string> known = {"best_constant", "baselines"};
      for (const auto& n : env::heuristic_names()) known.emplace_back(n.name);
      throw UserError("there is no policy and no run folder \"" + name + "\"" +
                      did_you_mean(name, known));
    }
  }
  return policies;
}

}  // namespace pacml::apps
