#include "apps/evaluation/eval_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "apps/cli/text_table.h"

namespace pacml::apps {
namespace {

using Cells = std::vector<std::string>;
using Columns = std::vector<std::size_t>;  // numbers of metrics

// The metrics of a group that people are shown.
Columns columns_of(const EvalResult& result, const std::string& group) {
  Columns columns;
  for (std::size_t m = 0; m < result.metrics.size(); ++m) {
    if (result.metrics[m].group == group && !result.metrics[m].title.empty()) columns.push_back(m);
  }
  return columns;
}

std::string cell(const MeanInterval& value, const env::MetricSpec& metric, bool with_interval) {
  std::string text = format_number(value.mean, metric.decimals);
  if (with_interval && !std::isnan(value.ci95)) {
    text += " ± " + format_number(value.ci95, metric.decimals);
  }
  return text;
}

std::string format_figures(const EvalResult& result, std::size_t width) {
  const Columns columns = columns_of(result, {});
  std::vector<Cells> rows{{"policy"}};
  for (const std::size_t m : columns) rows[0].push_back(result.metrics[m].title);
  rows[0].emplace_back("seeds");
  for (const PolicyResult& policy : result.policies) {
    Cells& row = rows.emplace_back(Cells{policy.name});
    for (const std::size_t m : columns) {
      row.push_back(cell(mean_interval(policy, m), result.metrics[m], m == 0));
    }
    row.push_back(std::to_string(policy.seeds.size()));
  }
  return align_columns(rows, width);
}

std::string format_group(const EvalResult& result, const std::string& group, std::size_t width) {
  Columns columns = columns_of(result, group);
  std::erase_if(columns, [&](std::size_t m) {
    return std::ranges::all_of(result.policies, [m](const PolicyResult& policy) {
      return !(std::abs(mean_interval(policy, m).mean) > 0);
    });
  });
  if (columns.empty()) return {};
  std::vector<Cells> rows{{group}};
  for (const std::size_t m : columns) rows[0].push_back(result.metrics[m].title);
  for (const PolicyResult& policy : result.policies) {
    Cells& row = rows.emplace_back(Cells{policy.name});
    for (const std::size_t m : columns) {
      row.push_back(cell(mean_interval(policy, m), result.metrics[m], false));
    }
  }
  return "\n" + align_columns(rows, width);
}

// The best that was learned beside the best that was not: what learning is worth. Where all are of
// one kind, the best two. nullopt: there are no two.
std::optional<std::pair<std::size_t, std::size_t>> compared(const EvalResult& result) {
  if (result.policies.size() < 2) return std::nullopt;
  const auto best = [&](bool learned) {
    return static_cast<std::size_t>(
        std::ranges::find(result.policies, learned, &PolicyResult::learned) -
        result.policies.begin());
  };
  const auto pair = std::pair(best(true), best(false));
  const std::size_t none = result.policies.size();
  return pair.first == none || pair.second == none ? std::pair<std::size_t, std::size_t>(0, 1)
                                                   : pair;
}

// Whoever is picked by what is compared looks better than it is.
std::string who_was_picked(const EvalResult& result, const PolicyResult& first,
                           const PolicyResult& second, bool first_is_better) {
  const std::string warning = ": other episodes may say otherwise";
  if (first.learned == second.learned) {
    const std::size_t all = result.policies.size();
    if (all == 2) return {};
    return ", by which these two of " + std::to_string(all) + " were picked" + warning;
  }
  const PolicyResult& better = first_is_better ? first : second;
  const auto rivals = std::ranges::count(result.policies, better.learned, &PolicyResult::learned);
  if (rivals == 1) return {};
  return ", by which " + better.name + " was picked out of " + std::to_string(rivals) + warning;
}

// "a is better than b: blocking rate lower by 0.0223 ± 0.0031 (28 %) on the same 20 episodes".
std::string format_verdict(const EvalResult& result) {
  const auto pair = compared(result);
  if (!pair) return {};
  const PolicyResult& first = result.policies[pair->first];
  const PolicyResult& second = result.policies[pair->second];
  const auto [difference, episodes, base] = paired_difference(first, second);
  if (std::isnan(difference.ci95)) return {};
  const env::MetricSpec& metric = result.metrics.front();
  const bool is_higher = difference.mean > 0;
  const bool is_better = is_higher == (metric.better == env::Better::kHigher);
  const std::string on = " on the same " + std::to_string(episodes) + " episodes" +
                         who_was_picked(result, first, second, is_better) + "\n";
  const double size = std::abs(difference.mean);
  if (size <= difference.ci95) {
    return "\n" + first.name + " and " + second.name + ": no difference in " + metric.title +
           " can be told" + on;
  }
  const double from = std::abs(base);
  return "\n" + first.name + (is_better ? " is better than " : " is worse than ") + second.name +
         ": " + metric.title + (is_higher ? " higher by " : " lower by ") +
         format_number(size, metric.decimals) + " ± " +
         format_number(difference.ci95, metric.decimals) +
         (from > 0 ? " (" + format_number(100 * size / from, 0) + " %)" : "") + on;
}

// Each once, in their order.
std::vector<std::string> groups_of(const EvalResult& result) {
  std::vector<std::string> groups;
  for (const env::MetricSpec& metric : result.metrics) {
    if (metric.group.empty() || std::ranges::find(groups, metric.group) != groups.end()) continue;
    groups.push_back(metric.group);
  }
  return groups;
}

}  // namespace

std::string format_table(const EvalResult& unsorted, std::size_t width) {
  EvalResult result = unsorted;
  // A policy of which nothing is known comes last.
  std::ranges::stable_sort(result.policies, {}, [&](const PolicyResult& policy) {
    const double value = mean_interval(policy, 0).mean;
    if (std::isnan(value)) return std::numeric_limits<double>::infinity();
    return result.metrics.front().better == env::Better::kHigher ? -value : value;
  });
  std::string text = format_figures(result, width);
  for (const std::string& group : groups_of(result)) text += format_group(result, group, width);
  return text + format_verdict(result);
}

}  // namespace pacml::apps
