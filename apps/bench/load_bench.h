#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "apps/bench/bench_report.h"
#include "apps/run/train_config.h"

namespace pacml::apps {

struct LoadBenchOptions {
  std::vector<std::string> config_arguments;  // CONFIG and its options, for the processes started
  std::vector<std::size_t> actors = {1'000};  // a point of the sweep each
  std::vector<std::size_t> shards;            // algorithm apex: a point each; empty: replay.shards
  double decisions_per_second = 0;            // of each actor while it acts; 0: no limit
  double seconds = 10;                        // measured at each point
  double warm_up = 3;                         // seconds before that
  std::size_t threads = 0;          // that drive the actors; 0: half of the machine's cores
  std::string learner;              // one that runs already; empty: one is started
  std::vector<std::string> replay;  // ... and its shards
};

// Loads a learner, and replay shards where the algorithm has some, with protocol actors: processes
// started anew for each point of the sweep, or those that are named. Adds one entry per point,
// "load_<algorithm>_<actors>_actors[_<shards>_shards]"; docs/capacity.md says what its figures
// mean. Prints a table to `out`, and where the knee is. UserError: a process does not start or
// ends, the actors are refused, or the system allows too few open files.
void run_load_bench(const TrainConfig& config, const LoadBenchOptions& options, BenchReport& report,
                    std::ostream& out);

}  // namespace pacml::apps
