#include "apps/evaluation/policy_list.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "apps/evaluation/model_file.h"
#include "apps/evaluation/searched_policy.h"
#include "apps/evaluation/trained_agent.h"
#include "apps/run/run_directory.h"
#include "common/result.h"
#include "common/text.h"
#include "planning/search_agent.h"

namespace pacml::apps {
namespace {

// "best_constant" of "constant:8" is shown as "best_constant:8".
std::string shown_as(const std::string& name, const std::string& chosen) {
  const auto colon = chosen.find(':');
  return colon == std::string::npos ? name + ":" + chosen : name + chosen.substr(colon);
}

NamedPolicy trained(const std::string& name, const env::TaskPtr& task) {
  auto run = std::make_shared<const TrainedRun>(load_trained_policy(name, task->spec()));
  std::cerr << run->warning;
  return {name,
          [run, task] {
            return std::make_unique<TrainedAgent>(run->shape, run->parameters, task->spec().graphs);
          },
          true};
}

constexpr std::string_view kSearch = "+search";

// "runs/a" and "K=64,H=12" of "runs/a+search:K=64,H=12"; without a search nullopt.
struct Searched {
  std::string policy;
  std::string settings;
};
std::optional<Searched> searched(const std::string& name) {
  const auto at = name.rfind(kSearch);
  if (at == std::string::npos) return std::nullopt;
  std::string settings = name.substr(at + kSearch.size());
  if (!settings.empty() && settings.front() != ':') return std::nullopt;
  if (!settings.empty()) settings.erase(0, 1);
  return Searched{name.substr(0, at), std::move(settings)};
}

// A search over what a rule, or a trained network, would do.
NamedPolicy search(const std::string& name, const Searched& parts, const env::TaskPtr& task) {
  if (env::is_baseline(*task, parts.policy)) {
    static_cast<void>(task->make_agent(parts.policy));  // complains now, not in a thread
    const auto config = planning::parse_search(parts.settings);
    return {name, [task, config, rule = parts.policy] {
              return std::make_unique<planning::SearchAgent>(
                  config, planning::make_rule_policy(task->make_agent(rule)));
            }};
  }
  auto run = std::make_shared<const TrainedRun>(load_trained_policy(parts.policy, task->spec()));
  std::cerr << run->warning;
  static_cast<void>(search_agent(*run, *task, parts.settings));  // complains now, not in a thread
  return {name,
          [run, task, settings = parts.settings] { return search_agent(*run, *task, settings); },
          true};
}

// A run folder, or an exported policy.
bool is_trained(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none) ||
         (path.extension() == ".safetensors" && std::filesystem::exists(path, none));
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

std::vector<std::string> split_names(const std::vector<std::string>& lists, const env::Task& task) {
  std::vector<std::string> compared;
  for (const env::Baseline& baseline : task.baselines()) {
    if (baseline.compared) compared.push_back(baseline.name);
  }
  std::vector<std::string> names;
  for (const auto& list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = end_of_name(list, begin);
      const std::string name = list.substr(begin, end - begin);
      begin = end + 1;
      if (name.empty()) throw UserError("--policy " + list + ": a name is empty");
      if (!names.empty() && names.back().find(kSearch) != std::string::npos &&
          name.find('=') != std::string::npos && name.find(kSearch) == std::string::npos) {
        names.back() += "," + name;  // another setting of that search
        continue;
      }
      if (name == "baselines") {
        names.insert(names.end(), compared.begin(), compared.end());
      } else {
        names.push_back(name);
      }
    }
  }
  return names.empty() ? compared : names;
}

std::vector<NamedPolicy> name_policies(const std::vector<std::string>& names,
                                       const env::TaskPtr& task, Seed run, int threads) {
  const auto baselines = task->baselines();
  std::vector<NamedPolicy> policies;
  for (const auto& name : names) {
    const auto chosen = std::ranges::find(baselines, name, &env::Baseline::name);
    if (chosen != baselines.end() && !chosen->best_of.empty()) {
      const auto best = tuned_baseline(task, chosen->best_of, run, kTuningEpisodes, threads);
      policies.push_back(baseline(task, best));
      policies.back().name = shown_as(name, best);
    } else if (const auto parts = searched(name);
               parts && (env::is_baseline(*task, parts->policy) || is_trained(parts->policy))) {
      policies.push_back(search(name, *parts, task));
    } else if (env::is_baseline(*task, name)) {
      policies.push_back(baseline(task, name));
    } else if (is_trained(name)) {
      policies.push_back(trained(name, task));
    } else {
      std::vector<std::string> known = {"baselines"};
      for (const auto& baseline : baselines) known.push_back(baseline.name);
      throw UserError("there is no policy and no run folder \"" + name + "\"" +
                      did_you_mean(name, known));
    }
  }
  return policies;
}

}  // namespace pacml::apps
