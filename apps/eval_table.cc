#include "apps/eval_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <set>
#include <string_view>
#include <vector>

namespace pacml::apps {
namespace {

using Cells = std::vector<std::string>;

// "0.2208", "1.234e+06" where a plain number would be long, "-" for NaN.
std::string number(double value, int decimals) {
  if (std::isnan(value)) return "-";
  char text[64];
  const bool plain = std::abs(value) < 1e6;
  std::snprintf(text, sizeof text, plain ? "%.*f" : "%.*e", plain ? decimals : 3, value);
  return text;
}

// Characters that a terminal shows: continuation bytes of UTF-8 take no column.
std::size_t shown_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padding(std::size_t width, std::string_view text) {
  return std::string(width - shown_width(text), ' ');
}

// Names to the left, figures to the right.
std::string align(const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], shown_width(row[i]));
  }
  std::string text;
  for (const Cells& row : rows) {
    text += row[0] + padding(widths[0], row[0]);
    for (std::size_t i = 1; i < row.size(); ++i) text += "  " + padding(widths[i], row[i]) + row[i];
    text += "\n";
  }
  return text;
}

Cells figures_of(const PolicyResult& policy) {
  const MeanInterval blocking = mean_interval(policy, &SeedResult::blocking_rate);
  std::int64_t arrived = 0;
  for (const SeedResult& seed : policy.seeds) arrived += seed.arrived;
  return {policy.name,
          number(blocking.mean, 4) +
              (std::isnan(blocking.ci95) ? "" : " ± " + number(blocking.ci95, 4)),
          number(mean_interval(policy, &SeedResult::mean_jct).mean, 1),
          number(mean_interval(policy, &SeedResult::mean_jct_speedup).mean, 2),
          number(mean_interval(policy, &SeedResult::mean_demand_total_throughput).mean, 1),
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
      row.push_back(number(share_blocked_by(policy, cause), 4));
  }
  return "\n" + align(rows);
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
  return align(rows) + format_causes(policies);
}

}  // namespace pacml::apps
