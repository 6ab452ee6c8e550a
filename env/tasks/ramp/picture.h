#pragma once

#include <string>

#include "env/picture.h"
#include "env/tasks/ramp/environment.h"

namespace pacml::env {

// The RAMP cluster as people see it: its servers by group and rack with the jobs that run there,
// the job that waits, and what became of the one before. Pure.
[[nodiscard]] Picture ramp_picture(const RampEnvironment& environment);

// What became of a job, as words: "done in 812 of at most 1100", "blocked: ...". Pure.
[[nodiscard]] std::string describe(const JobOutcome& outcome);

}  // namespace pacml::env
