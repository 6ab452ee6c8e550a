#pragma once

#include <string>
#include <vector>

#include "env/task.h"
#include "env/tasks/python/config.h"

namespace pacml::env {

// What an environment of Python says of itself.
struct PythonDescription {
  ObservationSpec observation;
  std::vector<MetricSpec> metrics;
  std::vector<Baseline> baselines;   // functions of its own that choose actions
  std::vector<std::string> sources;  // the files that it was read from, as far as it has any
};

// The baselines that an environment has beside its own: a random one and, where an action is known
// by its place, the constant ones. Pure.
[[nodiscard]] std::vector<Baseline> added_baselines(const CandidateSpec& candidates);

// Asks Python, once for each configuration as long as the task's files stay what they are: to read
// one, to check it and to make its task takes the same answer. An error, which may have been about
// anything, is asked about again, but not within one reading. Any thread. UserError: Python is not
// there, or what it says of the task cannot be; TryAgainError: it is gone. Pre: the settings name
// something (validate).
[[nodiscard]] PythonDescription description_of(const PythonConfig& config);

}  // namespace pacml::env
