#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"
#include "common/config/source.h"

// What a run goes on with, so that it stays the run that it was.

namespace pacml::apps {

struct Resumption {
  TrainConfig config;
  std::vector<std::string> changes;  // "actors: 4 from now on, 2 before"; each does no harm
};

// The run's own configuration, changed by what is said now: what `said`, `profiles` and `keys`
// (both empty: nothing) do not mention stays as the run has it, whatever this program's defaults
// are.
// UserError: the run has no configuration; it cannot be read; or a change would make another task,
// another network or another meaning of what the run has saved. The sentence names the first few,
// and where each is said.
[[nodiscard]] Resumption resume_config(const RunDirectory& run, const ConfigSource& said,
                                       const std::string& profiles, const std::string& keys);

// As a run's folder keeps it: paths that hold wherever the run is resumed from.
[[nodiscard]] TrainConfig as_recorded(TrainConfig config);

// Keeps what identifies the run's job graphs and other files (Agreement::graphs, ::inputs) beside
// its configuration. UserError: cannot be written.
void record_inputs(const RunDirectory& run, const Agreement& agreement);
// Job graphs that a run was trained on, and that are others of the same name here: a task plays
// without a word what it is given, the built-in models where no folder is named. UserError: the
// run's record cannot be read.
[[nodiscard]] std::vector<std::string> other_graphs(const RunDirectory& run,
                                                    const env::EnvironmentSpec& here);
// UserError: the run was trained on other job graphs, or other files. Runs that have not kept
// theirs pass.
void check_inputs(const RunDirectory& run, const Agreement& agreement);

}  // namespace pacml::apps
