#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/figures.h"

namespace pacml::apps {

// A whole training run on this machine (learner, actors, sockets) for `seconds`, measured from
// outside. `train_arguments`: CONFIG and its options.
//   decisions_per_second, samples_per_second    acted and learned, medians over the run's metrics
//                                               after its first quarter
//   cpu_seconds_per_decision    of all processes, after the first quarter
//   transport_cpu_seconds_per_decision    of which in ZeroMQ's threads
//   policy_lag_p50, policy_lag_p99, policy_lag_max   versions; the p99 is the largest of all
//                                               intervals
//   gaps, duplicates, stale
//   learner_resident_bytes, actor_resident_bytes, replay_resident_bytes   largest seen, of the
//                                               largest process of the role; the last one with a
//                                               replay only
// UserError: the run cannot be started or ends badly.
[[nodiscard]] bench::Figures run_pipeline_bench(const std::vector<std::string>& train_arguments,
                                                double seconds);

}  // namespace pacml::apps
