#include "env/task.h"

#include <algorithm>

#include "common/text.h"

namespace pacml::env {
namespace {

UserError is_choice(const Baseline& baseline) {
  return UserError("the baseline \"" + baseline.name + "\" is whichever of " +
                   join(baseline.best_of) +
                   " does best on tuning episodes, which are played where policies are compared: "
                   "name one of them");
}

}  // namespace

std::vector<std::string> compared_agents(const Task& task) {
  std::vector<std::string> names;
  for (const Baseline& baseline : task.baselines()) {
    if (!baseline.compared) continue;
    if (baseline.best_of.empty()) names.push_back(baseline.name);
    names.insert(names.end(), baseline.best_of.begin(), baseline.best_of.end());
  }
  return names;
}

std::unique_ptr<Agent> make_baseline(const Task& task, std::string_view name) {
  const auto baselines = task.baselines();
  const auto found = std::ranges::find(baselines, name, &Baseline::name);
  if (found != baselines.end() && !found->best_of.empty()) throw is_choice(*found);
  return task.make_agent(name);
}

UserError no_such_baseline(std::string_view name, std::span<const Baseline> known) {
  std::vector<std::string> names;
  for (const Baseline& baseline : known) {
    if (baseline.name == name) {
      if (!baseline.best_of.empty()) return is_choice(baseline);
      return UserError("the baseline \"" + baseline.name +
                       "\" needs an argument behind a colon: " + baseline.description);
    }
    names.push_back(baseline.name);
  }
  return UserError("there is no baseline \"" + std::string(name) + "\"" +
                   did_you_mean(name, names));
}

bool is_baseline(const Task& task, std::string_view name) {
  return std::ranges::any_of(task.baselines(), [&](const Baseline& baseline) {
    return baseline.name == name.substr(0, name.find(':'));
  });
}

}  // namespace pacml::env
