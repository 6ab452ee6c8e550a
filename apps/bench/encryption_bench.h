#pragma once

#include <string>
#include <vector>

#include "bench/figures.h"

namespace pacml::apps {

// What encryption costs a whole training run (pipeline_bench.h) over tcp on this machine: pairs of
// runs, one in the clear and one with keys, in alternating order, so that whatever else the machine
// does falls on both. `rounds`: pairs; `seconds`: of each run.
//   clear_decisions_per_second, encrypted_decisions_per_second            medians
//   clear_cpu_seconds_per_decision, encrypted_cpu_seconds_per_decision    of all processes; medians
//   clear_transport_cpu_seconds_per_decision, encrypted_...               of which in ZeroMQ's
//                                   threads, which encrypt: steady on a busy machine, too
//   decisions_ratio, cpu_ratio      encrypted to clear, medians of the pairs' own ratios
//   transport_overhead              what ZeroMQ's threads use more, as a share of all in the clear
// UserError as run_pipeline_bench.
[[nodiscard]] bench::Figures run_encryption_bench(const std::vector<std::string>& train_arguments,
                                                  const std::string& keys, double seconds,
                                                  int rounds);

}  // namespace pacml::apps
