#pragma once

#include "bench/figures.h"

namespace pacml::bench {

// A replay table of 2^20 items, priorities spread evenly over the exponents from 1e-6 to 1e6, alpha
// 0.6, on one thread, in batches of 512. Rates are medians over slices of the work; seconds are the
// thread's, so that other processes do not enter.
//   {structure}_{inserts,updates,samples}_per_second   weights only, in the sum tree in use
//       (wide_tree) and in what it was chosen over (binary_tree, exponent_buckets)
//   selector_{inserts,updates,samples}_per_second      PrioritizedSelector, from priorities
//   table_{inserts,updates,samples}_per_second         Table with payloads of 200 bytes, full: each
//       insert evicts an item
//   table_copied_samples_per_second                    with each drawn payload copied, as a server
//       does
//   snapshot_slowdown_ratio   time of a mix of all three, as fast as it goes, while a snapshot is
//       taken into a file, relative to the time without
//   snapshot_cost_seconds     the difference: what a snapshot costs the table's thread altogether
//   snapshot_seconds, snapshot_bytes
//   snapshot_longest_pause_seconds                     of one call that only serves the snapshot,
//       with what it waits for
// Takes about fifteen seconds and 700 MB.
[[nodiscard]] Figures run_replay_bench();

}  // namespace pacml::bench
