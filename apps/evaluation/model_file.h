#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/evaluation/trained_run.h"
#include "env/task.h"

namespace pacml::apps {

// A trained policy with the task that it was trained for. Value type.
struct Model {
  env::TaskPtr task;
  TrainedRun run;
};

// Of a run folder: its best policy. Of a file: one that `pacml export --format safetensors` wrote.
// `profiles`: the folder of job graphs; empty: where the configuration found them. `changes`:
// "KEY=VALUE" each, settings of the task that differ from the training's, as far as the policy can
// be asked then. A policy of several clusters is for the first of them, or for theirs. UserError:
// neither is there, it is damaged, or its job graphs are not there; a change that cannot be, or
// that the policy was not trained for; a file whose task is in Python, which is code that it does
// not get to run.
[[nodiscard]] Model load_model(const std::filesystem::path& path, const std::string& profiles = {},
                               const std::vector<std::string>& changes = {});

// The same of such a file, for decisions of a task that is already there; what the file says of its
// own is looked at for the cluster that it is for (check_only_graphs) and for what its decisions
// showed (warn_of_other_features), where it is no code, and need not be readable here. UserError:
// as above, or a network for other decisions.
[[nodiscard]] TrainedRun load_exported_policy(const std::filesystem::path& file,
                                              const env::EnvironmentSpec& spec);

// The policy of a run folder or of a file, whichever `path` is. UserError: as above.
[[nodiscard]] TrainedRun load_trained_policy(const std::filesystem::path& path,
                                             const env::EnvironmentSpec& spec);

}  // namespace pacml::apps
