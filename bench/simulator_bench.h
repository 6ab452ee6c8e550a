#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/figures.h"
#include "env/task_config.h"
#include "env/tasks/ramp/config.h"

namespace pacml::bench {

// The simulator alone on one core: random valid actions, every observation written, one
// environment.
//   decisions_per_second           median over repetitions, after a warm-up that fills the memo
//   first_decisions_per_second     the first repetition, from cold
// and where what a network reads of candidates is computed (env/candidate_view.h):
//   decisions_with_candidates_per_second   the same with all of that written
//   candidates_per_decision
// `decisions`: per repetition.
[[nodiscard]] Figures run_simulator_bench(const env::TaskConfig& config, std::int64_t decisions,
                                          int repetitions);

// Cold lookaheads on the empty cluster, each from the job graph: partition, placement, run times
// and one training step, for every model of the config at degrees 1, 2, 4, 6, 8 and 16 (as far as
// allowed).
//   {model}_{degree}_seconds       lookahead alone (run times and step), median over repetitions
//   table_seconds                  all of them with partition and placement, from nothing
[[nodiscard]] Figures run_lookahead_bench(const env::RampTaskConfig& config, int repetitions);

}  // namespace pacml::bench
