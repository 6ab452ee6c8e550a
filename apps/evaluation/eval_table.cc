#include "apps/evaluation/eval_table.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "apps/cli/text_table.h"

namespace pacml::apps {
namespace {

using Cells = std::vector<std::string>;

Cells figures_of(const PolicyResult& policy) {
  const MeanInterval blocking = mean_interval(policy, &SeedResult::blocking_rate);
  std::int64_t arrived = 0;
  for (const SeedResult& seed : policy.seeds) arrived += seed.arrived;
  return {policy.name,
          format_number(blocking.mean, 4) +
              (std::isnan(blocking.ci95) ? "" : " ± " + format_number(blocking.ci95, 4)),
          format_number(mean_interval(policy, &SeedResult::mean_jct).mean, 1),
          format_number(mean_interval(policy, &SeedResult::mean_jct_speedup).mean, 2),
          format_number(mean_interval(policy, &SeedResult::mean_demand_total_throughput).mean, 1),
          std::to_string(policy.seeds.size()),
          std::to_string(arrived)};
}

std::string format_causes(const std::vector<PolicyResult>& policies) {
  std::set<std::string> causes;
  for (const PolicyResult& policy : policies) {
    for (const SeedResult& seed : policy.seeds) {
      for (const auto& [cause, count] : seed.blocked_by_cause) {
        if (count > 0) causes.insert(cause);
      }
    }
  }
  if (causes.empty()) return {};
  std::vector<Cells> rows{{"blocked because of"}};
  rows[0].insert(rows[0].end(), causes.begin(), causes.end());
  for (const PolicyResult& policy : policies) {
    Cells& row = rows.emplace_back(Cells{policy.name});
    for (const std::string& cause : causes)
      row.push_back(format_number(share_blocked_by(policy, cause), 4));
  }
  return "\n" + align_columns(rows);
}

}  // namespace

std::string format_table(const EvalResult& result) {
  std::vector<PolicyResult> policies = result.policies;
  std::ranges::stable_sort(policies, {}, [](const PolicyResult& policy) {
    const double rate = mean_interval(policy, &SeedResult::blocking_rate).mean;
    return std::isnan(rate) ? 2.0 : rate;  // a policy that saw no job comes last
  });
  std::vector<Cells> rows{
      {"policy", "blocking rate", "JCT", "speed-up", "throughput", "seeds", "jobs"}};
  for (const PolicyResult& policy : policies) rows.push_back(figures_of(policy));
  return align_columns(rows) + format_causes(policies);
}

}  // namespace pacml::apps
