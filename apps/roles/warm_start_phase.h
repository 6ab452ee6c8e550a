#pragma once

#include <optional>

#include "apps/roles/learner_role.h"
#include "apps/roles/warm_start.h"
#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"

namespace pacml::apps {

struct WarmStartResult {
  bool stopped = false;                // asked to
  std::optional<Preferred> preferred;  // none: there is none to find, as where a run is resumed
};

// Finds the action that a new run's first policy prefers (warm_start.h), before anything else of
// the run begins: answers SIGTERM and SIGINT, ends with options.minutes, and tells how far it is in
// the log, at options.http, and in the run's metrics as "warm_start". UserError: the minutes were
// over.
[[nodiscard]] WarmStartResult run_warm_start(const TrainConfig& config,
                                             const LearnerRoleOptions& options,
                                             const RunDirectory& run);

}  // namespace pacml::apps
