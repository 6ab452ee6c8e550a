#pragma once

#include <optional>
#include <vector>

#include "apps/roles/learner_role.h"
#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"

namespace pacml::apps {

struct WarmStartResult {
  bool stopped = false;  // asked to
  // Of the run's first policy. None: there are none to find, as where a run is resumed.
  std::optional<std::vector<float>> weights;
};

// Finds the weights that a new run begins with (warm_start), before anything else of the run
// begins: takes over another run's, leans towards the best constant action, or imitates a teacher.
// The last two take their time: they answer SIGTERM and SIGINT, end with options.minutes, and tell
// how far they are in the log, at options.http, and in the run's metrics as "warm_start".
// UserError: the minutes were over, there is no such run, teacher or constant, or imitating has
// diverged.
[[nodiscard]] WarmStartResult run_warm_start(const TrainConfig& config,
                                             const LearnerRoleOptions& options,
                                             const RunDirectory& run,
                                             const NetworkFactory& make_network);

}  // namespace pacml::apps
