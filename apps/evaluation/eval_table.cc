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

// A row for each method of which several trainings were named.
std::string format_methods(const EvalResult& result, std::size_t width) {
  const env::MetricSpec& metric = result.metrics.front();
  std::vector<Cells> rows{{"method", metric.title, "median", "least", "most", "trainings"}};
  for (const Method& method : methods_of(result)) {
    const Spread spread = spread_of(method);
    rows.push_back({method.name, cell(spread.mean, metric, true),
                    format_number(spread.median, metric.decimals),
                    format_number(spread.least, metric.decimals),
                    format_number(spread.most, metric.decimals),
                    std::to_string(method.trainings.size())});
  }
  return rows.size() == 1 ? std::string() : "\n" + align_columns(rows, width);
}

// "a is better than b: blocking rate lower by 0.0223 ± 0.0031 (28 %) on the same 20 episodes"; "":
// there is no interval. `behind`: the end of the sentence.
std::string format_difference(const env::MetricSpec& metric, const std::string& a,
                              const std::string& b, const PairedDifference& found,
                              const std::string& behind) {
  const auto& [difference, episodes, base] = found;
  if (std::isnan(difference.ci95)) return {};
  const bool is_higher = difference.mean > 0;
  const std::string on = " on the same " + std::to_string(episodes) + " episodes" + behind + "\n";
  const double size = std::abs(difference.mean);
  if (size <= difference.ci95) {
    return "\n" + a + " and " + b + ": no difference in " + metric.title + " can be told" + on;
  }
  const bool is_better = is_higher == (metric.better == env::Better::kHigher);
  const double from = std::abs(base);
  return "\n" + a + (is_better ? " is better than " : " is worse than ") + b + ": " + metric.title +
         (is_higher ? " higher by " : " lower by ") + format_number(size, metric.decimals) + " ± " +
         format_number(difference.ci95, metric.decimals) +
         (from > 0 ? " (" + format_number(100 * size / from, 0) + " %)" : "") + on;
}

// The best of the single runs beside the best that was not learned: what learning is worth. Where
// all are of one kind, the best two. nullopt: there are no two.
std::optional<std::pair<std::size_t, std::size_t>> compared(const EvalResult& result) {
  const std::size_t none = result.policies.size();
  const auto first_where = [&](auto is_one) {
    return static_cast<std::size_t>(std::ranges::find_if(result.policies, is_one) -
                                    result.policies.begin());
  };
  const auto pair =
      std::pair(first_where([](const PolicyResult& p) { return p.learned && p.method.empty(); }),
                first_where([](const PolicyResult& p) { return !p.learned; }));
  if (pair.first != none && pair.second != none) return pair;
  const bool has_methods =
      first_where([](const PolicyResult& p) { return !p.method.empty(); }) != none;
  if (none < 2 || has_methods) return std::nullopt;
  return std::pair<std::size_t, std::size_t>(0, 1);
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
  const auto rivals = std::ranges::count_if(result.policies, [&](const PolicyResult& policy) {
    return policy.learned == better.learned && policy.method.empty();
  });
  if (rivals == 1) return {};
  return ", by which " + better.name + " was picked out of " + std::to_string(rivals) + warning;
}

std::string format_verdict(const EvalResult& result) {
  const auto pair = compared(result);
  if (!pair) return {};
  const PolicyResult& first = result.policies[pair->first];
  const PolicyResult& second = result.policies[pair->second];
  const PairedDifference found = paired_difference(first, second);
  const env::MetricSpec& metric = result.metrics.front();
  const bool is_better = (found.difference.mean > 0) == (metric.better == env::Better::kHigher);
  return format_difference(metric, first.name, second.name, found,
                           who_was_picked(result, first, second, is_better));
}

// Each method beside the best that was not learned.
std::string format_verdicts_of_methods(const EvalResult& result) {
  const PolicyResult* const rival = best_untrained(result);
  if (rival == nullptr) return {};
  std::string text;
  const auto rules = std::ranges::count(result.policies, false, &PolicyResult::learned);
  const std::string behind = "; the interval is over trainings" +
                             (rules > 1 ? ", and " + rival->name + " was picked out of " +
                                              std::to_string(rules) + " by these episodes"
                                        : std::string());
  for (const Method& method : methods_of(result)) {
    const std::string trainings = std::to_string(method.trainings.size()) + " trainings";
    text += format_difference(result.metrics.front(), method.name + ", mean of " + trainings + ",",
                              rival->name, paired_difference(method, *rival), behind);
  }
  return text;
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
  return text + format_methods(result, width) + format_verdict(result) +
         format_verdicts_of_methods(result);
}

}  // namespace pacml::apps
