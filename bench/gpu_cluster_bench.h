#pragma once

#include "bench/figures.h"

namespace pacml::bench {

// The simulator of GPU clusters alone on one core: whole schedules of generated jobs
// (env/gpu_cluster/generated_workload.h), median over repetitions. Figures are
//   small16_fifo_events_per_second                 arrivals and completions; first in, first out
//   leaf128_load_balancing_events_per_second       the least loaded server, the first 64 are tried
//   leaf2048_load_balancing_events_per_second
//   leaf128_least_interference_placements_per_second    SRTF, the first 32; every candidate is
//   leaf2048_least_interference_placements_per_second   valued, shared GPUs from a gain of 1.4 on
[[nodiscard]] Figures run_gpu_cluster_bench(int repetitions);

}  // namespace pacml::bench
