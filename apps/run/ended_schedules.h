#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"
#include "env/environment.h"
#include "learner/schedule.h"

// Schedules that a run which goes on has behind it.

namespace pacml::apps {

// How far learning was at the run's newest checkpoint; nullopt: there is none that can be used, as
// its learner will say, or it does not say so.
[[nodiscard]] std::optional<learner::LearningProgress> progress_in(
    const RunDirectory& run, const TrainConfig& config, const env::EnvironmentSpec& spec);

// A line for people about the algorithm's schedules that are at their end there, and so stay where
// they are; empty: none is. Those whose end `changes` (Resumption::changes) moved just now are left
// out. Pure.
[[nodiscard]] std::string ended_schedules(const TrainConfig& config,
                                          const learner::LearningProgress& progress,
                                          const std::vector<std::string>& changes);

}  // namespace pacml::apps
