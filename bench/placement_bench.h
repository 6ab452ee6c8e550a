#pragma once

#include "bench/figures.h"

namespace pacml::bench {

// The simulator of placements alone on one core: 100 random placements in turn, median over
// repetitions. Graphs are those of the families (docs/placement.md); figures are
//   branch_1000_on_2_runs_per_second          22 operations on two devices, published semantics
//   branch_1000_on_2_with_memory_runs_per_second   peak memory as well
//   branch_1000_on_2_corrected_runs_per_second     corrected semantics
//   cell_1000_on_4_...                        the same for 49 operations on four devices
//   chains_20002_on_8_run_seconds             a hundred chains of 200 operations on eight devices
[[nodiscard]] Figures run_placement_bench(int repetitions);

}  // namespace pacml::bench
