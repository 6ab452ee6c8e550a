#include "env/task.h"

#include <algorithm>

namespace pacml::env {

bool is_baseline(const Task& task, std::string_view name) {
  return std::ranges::any_of(task.baselines(), [&](const Baseline& baseline) {
    return baseline.name == name.substr(0, name.find(':'));
  });
}

}  // namespace pacml::env
