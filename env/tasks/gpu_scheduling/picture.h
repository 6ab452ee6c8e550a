#pragma once

#include <cstdint>
#include <vector>

#include "env/gpu_cluster/gpu_cluster_state.h"
#include "env/picture.h"

namespace pacml::env {

// A GPU cluster as people see it: what waits, and which jobs are on each GPU until when, as fast as
// they are now. Where GPUs hold two jobs, a second grid has those that came later. `jobs`: those of
// the state. Pure.
[[nodiscard]] Picture gpu_cluster_picture(const GpuClusterState& state,
                                          const std::vector<GpuJobSpec>& jobs);
// What became of a decision at that time, about a job or (-1) about none.
[[nodiscard]] PictureOutcome outcome_of_job(const GpuClusterState& state,
                                            const std::vector<GpuJobSpec>& jobs, std::int32_t job,
                                            double time_s);

}  // namespace pacml::env
