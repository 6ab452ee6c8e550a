#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace pacml::apps {

// What a policy did in the episode of one seed. Means over no job are NaN.
struct SeedResult {
  std::uint64_t seed = 0;
  std::int64_t arrived = 0;
  std::int64_t completed = 0;
  std::int64_t blocked = 0;
  std::map<std::string, std::int64_t> blocked_by_cause;  // every cause that occurred
  double blocking_rate = 0;                              // blocked / arrived
  double mean_jct = 0;          // over completed jobs, in the simulator's time unit
  double mean_jct_speedup = 0;  // over completed jobs: sequential time / completion time
  double mean_demand_total_throughput = 0;  // in the simulator's unit of information per time
};

struct PolicyResult {
  std::string name;
  std::vector<SeedResult> seeds;  // the same seeds, in the same order, for every policy
};

struct EvalResult {
  std::vector<PolicyResult> policies;
};

// A mean and half the width of its 95 % confidence interval: Student's t over independent seeds,
// t(0.975, n - 1) * s / sqrt(n). NaN where undefined: the mean of nothing, the interval of one.
struct MeanInterval {
  double mean = 0;
  double ci95 = 0;
};
// NaN entries are left out. Pure.
[[nodiscard]] MeanInterval mean_interval(std::span<const double> values);

// Over a policy's seeds. Pure.
[[nodiscard]] MeanInterval mean_interval(const PolicyResult& policy, double SeedResult::*figure);

// Blocked for `cause`, of all jobs that arrived over all seeds; 0 where none arrived. Pure.
[[nodiscard]] double share_blocked_by(const PolicyResult& policy, const std::string& cause);

}  // namespace pacml::apps
