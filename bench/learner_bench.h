#pragma once

#include "bench/figures.h"

namespace pacml::bench {

// Learning on one core with LibTorch: the published network, five graphs of 114 nodes and 142
// edges, 17 globals and 17 actions, messages of 50 steps of 20 environments. A sample is one
// decision that was learned from: assembled into a batch, forward, V-trace, losses, backward, clip
// and Adam.
//   samples_per_second                 batches of 2000 decisions
//   samples_per_second_b{B}            B = 1000, 2000, 4000
//   {stage}_seconds_b2000              stage = assemble, forward, backward, update (all but
//                                      assemble)
// Medians over repetitions. Takes about five seconds. Call prepare_torch_runtime() first.
[[nodiscard]] Figures run_learner_bench();

// Ape-X on one core, with the same network and graphs: a sample is one transition that was learned
// from, from its stored row to its new priority: assembled, importance weight, two passes without
// gradient over the next state, forward, Huber loss, backward, clip and Adam. The actors' copy of
// the weights, one per update, is included.
//   samples_per_second                 batches of 512 transitions
//   samples_per_second_b{B}            B = 512, 1024, 2048
//   {stage}_seconds_b512               stage = assemble, targets (the two passes, with the weights
//                                      unpacked for one of them), forward, backward, update (all
//                                      but assemble)
// Medians over repetitions. Takes about eight seconds. Call prepare_torch_runtime() first.
[[nodiscard]] Figures run_apex_bench();

}  // namespace pacml::bench
