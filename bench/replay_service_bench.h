#pragma once

#include "bench/figures.h"

namespace pacml::bench {

// One replay shard behind ZeroMQ on loopback TCP, in this process: transitions of the published
// task (200 bytes), 1600 to a message, with the credits that actors have.
//   transitions_per_second, curve_transitions_per_second
//       inserted, acknowledged and decoded in full; in the clear, and encrypted with CURVE
//   curve_transitions_ratio     the second by the first, medians of rounds in turn
//   samples_per_second, curve_samples_per_second
//       drawn in batches of 512 by a learner's client, 4 batches ahead
// Takes about ten seconds and 300 MB.
[[nodiscard]] Figures run_replay_service_bench();

}  // namespace pacml::bench
