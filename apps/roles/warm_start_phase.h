#pragma once

#include <optional>

#include "apps/roles/learner_role.h"
#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"

namespace pacml::apps {

// Finds the degree that a new run's first policy prefers (warm_start.h), before anything else of
// the run begins: answers SIGTERM and SIGINT, ends with options.minutes, and tells how far it is in
// the log, at options.http, and in the run's metrics as "warm_start". 0: there is none to find, as
// where a run is resumed. nullopt: asked to stop. UserError: the minutes were over.
[[nodiscard]] std::optional<int> run_warm_start(const TrainConfig& config,
                                                const LearnerRoleOptions& options,
                                                const RunDirectory& run);

}  // namespace pacml::apps
