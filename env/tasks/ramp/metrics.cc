#include "env/tasks/ramp/metrics.h"

#include <limits>
#include <string>

namespace pacml::env {

std::vector<MetricSpec> ramp_metrics() {
  std::vector<MetricSpec> metrics = {
      {"blocking_rate", "blocking rate", "share of the jobs", Better::kLower, 4, {}},
      {"mean_jct", "JCT", "simulated time", Better::kLower, 1, {}},
      {"mean_jct_speedup", "speed-up", "sequential time", Better::kHigher, 2, {}},
      {"mean_demand_total_throughput",
       "throughput",
       "bytes per simulated time",
       Better::kHigher,
       1,
       {}},
      {"arrived", "jobs", "jobs", Better::kNeither, 0, {}},
      {"completed", {}, "jobs", Better::kHigher, 0, {}},
      {"blocked", {}, "jobs", Better::kLower, 0, {}},
  };
  for (std::size_t cause = 1; cause < kNumBlockCauses; ++cause) {
    const std::string name = name_of(static_cast<BlockCause>(cause));
    metrics.push_back(
        {"blocked_by_" + name, name, "share of the jobs", Better::kLower, 4, "blocked because of"});
  }
  return metrics;
}

std::array<double, kMostMetrics> ramp_metric_values(const Cluster& cluster) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const ClusterCounters& c = cluster.counters();
  const auto of_arrived = [&c](int jobs) {
    return c.arrived > 0 ? static_cast<double>(jobs) / c.arrived : 0.0;
  };
  const auto of_completed = [&c](double sum) {
    return c.completed > 0 ? sum / c.completed : kNone;
  };
  std::array<double, kMostMetrics> values = {
      of_arrived(c.blocked),          of_completed(c.completion_time_sum),
      of_completed(c.speedup_sum),    cluster.now() > 0 ? c.demand_sum / cluster.now() : 0.0,
      static_cast<double>(c.arrived), static_cast<double>(c.completed),
      static_cast<double>(c.blocked),
  };
  for (std::size_t cause = 1; cause < kNumBlockCauses; ++cause) {
    values[6 + cause] = of_arrived(c.blocked_by_cause[cause]);
  }
  return values;
}

}  // namespace pacml::env
