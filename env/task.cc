#include "env/task.h"

#include <algorithm>

#include "common/text.h"

namespace pacml::env {

std::vector<std::string> compared_agents(const Task& task) {
  std::vector<std::string> names;
  for (const Baseline& baseline : task.baselines()) {
    if (!baseline.compared) continue;
    if (baseline.best_of.empty()) names.push_back(baseline.name);
    names.insert(names.end(), baseline.best_of.begin(), baseline.best_of.end());
  }
  return names;
}

UserError no_such_baseline(std::string_view name, std::span<const Baseline> known) {
  std::vector<std::string> names;
  for (const Baseline& baseline : known) {
    if (baseline.name == name) {
      return UserError("the baseline \"" + baseline.name +
                       (baseline.best_of.empty() ? "\" needs an argument behind a colon: "
                                                 : "\" is chosen where policies are compared: ") +
                       baseline.description);
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
