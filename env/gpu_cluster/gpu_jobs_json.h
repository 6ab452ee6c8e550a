#pragma once

#include <vector>

#include "env/gpu_cluster/gpu_cluster_model.h"

namespace pacml::env {

class JsonMember;

// The `jobs` of a recorded schedule (docs/gpu_cluster.md), in their order. UserError names what is
// not as it should be.
[[nodiscard]] std::vector<GpuJobSpec> recorded_gpu_jobs(const JsonMember& jobs);

}  // namespace pacml::env
