#pragma once

#include <string>

#include "apps/evaluation/eval_result.h"

namespace pacml::apps {

// The comparison for programs, indented, ending with a newline:
//   {"policies": [{"name", "seeds": [{"seed", "arrived", "completed", "blocked",
//   "blocked_by_cause": {cause: count}, "blocking_rate", "mean_jct", "mean_jct_speedup",
//   "mean_demand_total_throughput"}], "blocking_rate": {"mean", "ci95"}}]}
// NaN is null. Pure.
[[nodiscard]] std::string to_json(const EvalResult& result);

}  // namespace pacml::apps
