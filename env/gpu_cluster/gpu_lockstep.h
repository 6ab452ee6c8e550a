#pragma once

#include <cstdint>

#include "env/gpu_cluster/gpu_cluster_state.h"
#include "env/gpu_cluster/gpu_scheduler.h"

namespace pacml::env {

struct LockstepConfig {
  double round_s = 360;  // jobs make as many whole steps as fit into it; above 0
  double reset_s = 0;    // the least time between two passes of the scheduler
};

// Rounds in lock-step, as Gavel's simulator counts time (Narayanan et al., OSDI 2020), to the last
// bit: where a job's GPUs are does not matter, its speed is the one in a single server of the
// first GPU type; a round lasts until the slowest job has done its steps, and meanwhile nobody gets
// the GPUs of one that ended. A round in which a job does fewer steps than it has GPUs counts as a
// failure without progress; five in a row lose the job. Ends early where nothing runs and the
// scheduler will never place anything. UserError with the first problem of the settings, or more
// rounds than 10 million. The number of rounds.
std::int64_t run_lockstep(GpuClusterState& state, GpuScheduler& scheduler,
                          const LockstepConfig& config);

}  // namespace pacml::env
