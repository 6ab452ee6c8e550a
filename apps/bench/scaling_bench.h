#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "apps/bench/bench_report.h"
#include "apps/run/train_config.h"

namespace pacml::apps {

struct ScalingBenchOptions {
  std::vector<std::string> config_arguments;  // CONFIG and its options, for the processes started
  std::vector<std::size_t> actors = {1};      // processes; each number is measured by itself
  std::vector<std::size_t>
      cpus;                     // that actors are pinned to, in turn; empty: all but the learner's
  std::size_t learner_cpu = 0;  // that the learner is pinned to
  double seconds = 8;           // measured, of either kind in each round
  double warm_up = 4;           // seconds before that
  std::size_t rounds = 3;       // of one kind and then the other
};

// What it costs an actor to have a learner: actor processes that train one, against the same loops
// (simulate, evaluate the policy, record) that send nothing to nobody, on the same cores, in turns.
// Adds "scaling_<K>_actors" for each number K; medians over rounds:
//   decisions_per_second         with the learner, as it received them
//   alone_decisions_per_second   without, while the learner's CPU is kept as busy
//   wall_ratio                   of these two; waiting for the learner counts
//   decisions_per_cpu_second, alone_decisions_per_cpu_second
//   efficiency                   of these two: what sending, weights and the rest of the
//                                conversation cost. Neither a learner that is slower than its
//                                actors nor others on the machine change it
//   overhead_share               of an actor's CPU time, what is neither simulator nor policy: 1 -
//                                efficiency; weights taken and graphs embedded anew are in it
//   waiting_share                of the actors' cores that nobody used: they waited for work
// UserError: a process does not start or ends, a CPU is not there, the algorithm is not impala.
void run_scaling_bench(const TrainConfig& config, const ScalingBenchOptions& options,
                       BenchReport& report, std::ostream& out);

}  // namespace pacml::apps
