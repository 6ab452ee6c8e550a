#pragma once

#include "bench/figures.h"

namespace pacml::bench {

// Learning on one core with LibTorch: the published network, five graphs of 114 nodes and 142
// edges, 17 globals and 17 actions, messages of 50 steps of 20 environments. A sample is one
// decision that was learned from: assembled into a batch, forward, V-trace, losses, backward, clip
// and Adam.
//   samples_per_second                 batches of 2000 decisions
//   samples_per_second_b{B}            B = 1000, 2000, 4000
//   {stage}_seconds_b2000              stage = assemble, forward, backward, update (an update is
//   all
//                                      but assemble)
// Medians over repetitions. Takes about five seconds. Call prepare_torch_runtime() first.
[[nodiscard]] Figures run_learner_bench();

}  // namespace pacml::bench
