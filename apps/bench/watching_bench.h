#pragma once

#include <string>
#include <vector>

#include "bench/figures.h"

namespace pacml::apps {

// What it costs a whole training run (pipeline_bench.h) to be watched: pairs of runs, one by
// itself, the other with pages that a browser and Prometheus read, and with TensorBoard's files.
// `rounds`: pairs; `seconds`: of each run.
//   alone_..., watched_..., decisions_ratio, cpu_ratio    as paired_runs.h
//   pages_read, pages_failed                              in all rounds; the latter while a learner
//                                                         was not there yet or no more
// UserError as run_pipeline_bench.
[[nodiscard]] bench::Figures run_watching_bench(const std::vector<std::string>& train_arguments,
                                                double seconds, int rounds);

}  // namespace pacml::apps
