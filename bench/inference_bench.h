#pragma once

#include "bench/figures.h"

namespace pacml::bench {

// The acting policy on one core, published network, with each kernel that this machine can run, on
// a synthetic graph of 114 nodes and 142 edges (the paper's average):
//   {kernel}_distinct_graph_seconds           embedding one graph, as after new weights
//   {kernel}_interned_decision_seconds_b{B}   a decision on embedded graphs in batches of B
// with {kernel} = avx2, portable, and B = 1, 8, 32, 128. Medians over repetitions. Takes about a
// second.
[[nodiscard]] Figures run_inference_bench();

}  // namespace pacml::bench
