#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "apps/launch/launch_request.h"

// Training as Slurm jobs: one with the learner and its replay shards, and an array of actors.

namespace pacml::apps {

// What is submitted. The files belong into RUN/slurm/.
struct SlurmJobs {
  std::string config_file;  // its path; called after what it says
  std::string config;       // every setting, so that a later change of CONFIG has no effect
  std::string learner;      // learner.sbatch
  std::string actors;       // actors.sbatch; takes the learner's job number
};

// UserError: a path that batch files cannot hold; no keys where they are needed. Pure, but for
// relative paths, which become absolute.
[[nodiscard]] SlurmJobs make_slurm_jobs(const LaunchRequest& request);

// The files and the commands that launch_on_slurm would write and run.
void print_slurm_launch(const LaunchRequest& request, std::ostream& out);

// Writes the files, submits the jobs, and says to `out` what there is to know about them; the exit
// code. UserError: sbatch is not there, or refuses.
[[nodiscard]] int launch_on_slurm(const LaunchRequest& request, std::ostream& out);

}  // namespace pacml::apps
