#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/figures.h"

namespace pacml::apps {

// A whole training run on this machine (learner, actors, sockets) for `seconds`, measured from
// outside. `train_arguments`: CONFIG and its options.
//   decisions_per_second       acted and learned, median over the run's metrics after its first
//   quarter samples_per_second policy_lag_p50, policy_lag_p99, policy_lag_max   versions; the p99
//   is the largest of all intervals gaps, duplicates, stale learner_resident_bytes,
//   actor_resident_bytes     largest seen; the largest of the actors
// UserError: the run cannot be started or ends badly.
[[nodiscard]] bench::Figures run_pipeline_bench(const std::vector<std::string>& train_arguments,
                                                double seconds);

}  // namespace pacml::apps
