#pragma once

#include <string>
#include <vector>

#include "bench/figures.h"

namespace pacml::apps {

// What encryption costs a whole training run (pipeline_bench.h) over tcp on this machine: pairs of
// runs, one in the clear and one with keys, in alternating order, so that whatever else the machine
// does falls on both. `rounds`: pairs; `seconds`: of each run.
//   clear_..., encrypted_..., decisions_ratio, cpu_ratio    as paired_runs.h; ZeroMQ's threads
//                                   encrypt, and what they use is steady on a busy machine, too
//   transport_overhead              what they use more, as a share of all in the clear
// UserError as run_pipeline_bench.
[[nodiscard]] bench::Figures run_encryption_bench(const std::vector<std::string>& train_arguments,
                                                  const std::string& keys, double seconds,
                                                  int rounds);

}  // namespace pacml::apps
