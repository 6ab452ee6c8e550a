#include "apps/evaluation/timeline_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "apps/cli/text_table.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
using Interval = std::pair<double, double>;

// Of each lane when it is busy, without overlaps, in order.
std::vector<std::vector<Interval>> busy_times(const env::Timeline& timeline) {
  std::vector<std::vector<Interval>> spans(timeline.lanes.size());
  for (const env::TimelineSpan& span : timeline.spans) {
    spans[span.lane].emplace_back(span.begins, span.ends);
  }
  for (auto& lane : spans) {
    std::ranges::sort(lane);
    std::vector<Interval> merged;
    for (const Interval& span : lane) {
      if (!merged.empty() && span.first <= merged.back().second) {
        merged.back().second = std::max(merged.back().second, span.second);
      } else {
        merged.push_back(span);
      }
    }
    lane = std::move(merged);
  }
  return spans;
}

double end_of(const env::Timeline& timeline) { return std::max(timeline.ends, 1e-300); }

char shade(double busy) {
  constexpr std::array<char, 5> kShades{' ', '.', ':', '+', '#'};
  const double share = std::clamp(busy, 0.0, 1.0);
  return kShades[static_cast<std::size_t>(std::ceil(share * 4 - 1e-9))];
}

json named(const char* what, int process, std::size_t thread, const std::string& name) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

// Rows of one lane, so that no two spans of a row overlap: of each the end of its last span.
class Rows {
 public:
  // The first row that is free from `begins` on; spans come in order.
  std::size_t place(double begins, double ends) {
    const auto free = std::ranges::find_if(ends_, [&](double end) { return end <= begins; });
    const auto row = static_cast<std::size_t>(free - ends_.begin());
    if (free == ends_.end()) ends_.push_back(ends);
    ends_[row] = ends;
    return row;
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }

 private:
  std::vector<double> ends_;
};

}  // namespace

std::vector<double> busy_shares(const env::Timeline& timeline) {
  std::vector<double> shares;
  for (const auto& lane : busy_times(timeline)) {
    double sum = 0;
    for (const auto& [begins, ends] : lane) sum += ends - begins;
    shares.push_back(sum / end_of(timeline));
  }
  return shares;
}

std::vector<std::string> busy_bars(const env::Timeline& timeline, int columns) {
  const auto width = static_cast<std::size_t>(columns);
  const double cell = end_of(timeline) / columns;
  std::vector<std::string> bars;
  for (const auto& lane : busy_times(timeline)) {
    std::vector<double> busy(width, 0.0);
    for (const auto& [begins, ends] : lane) {
      const auto first = std::min(static_cast<std::size_t>(begins / cell), width - 1);
      for (std::size_t c = first; c < width && static_cast<double>(c) * cell < ends; ++c) {
        const double begin = static_cast<double>(c) * cell;
        busy[c] += std::max(0.0, std::min(ends, begin + cell) - std::max(begins, begin)) / cell;
      }
    }
    std::string bar = "|";
    for (const double share : busy) bar += shade(share);
    bars.push_back(bar + "|");
  }
  return bars;
}

std::string to_text(const env::Timeline& timeline, int columns) {
  const auto bars = busy_bars(timeline, columns);
  const auto shares = busy_shares(timeline);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    rows.push_back({"  " + timeline.lanes[lane].name, bars[lane],
                    format_number(100 * shares[lane], 0) + " %"});
  }
  std::string text =
      timeline.title + ", " + format_number(timeline.ends, 3) + " " + timeline.unit + "\n";
  std::istringstream lines(rows.empty() ? std::string() : align_columns(rows));
  std::string group;
  for (const env::TimelineLane& lane : timeline.lanes) {
    if (lane.group != group) text += lane.group + "\n";
    group = lane.group;
    std::string line;
    std::getline(lines, line);
    text += line + "\n";
  }
  return text;
}

json chrome_trace(const env::Timeline& timeline) {
  json events = json::array();
  std::map<std::string, int> processes;  // of the groups
  for (const env::TimelineLane& lane : timeline.lanes) {
    const auto [process, is_new] =
        processes.emplace(lane.group, static_cast<int>(processes.size()) + 1);
    if (is_new) events.push_back(named("process_name", process->second, 0, lane.group));
  }
  std::vector<std::size_t> order(timeline.spans.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return timeline.spans[i].begins; });
  std::vector<Rows> rows(timeline.lanes.size());
  std::vector<std::size_t> row_of(timeline.spans.size());
  for (const std::size_t i : order) {
    const env::TimelineSpan& span = timeline.spans[i];
    row_of[i] = rows[span.lane].place(span.begins, span.ends);
  }
  // Threads are numbered lane after lane, each with its further rows.
  std::vector<std::size_t> first_thread;
  std::size_t threads = 0;
  for (std::size_t lane = 0; lane < rows.size(); ++lane) {
    first_thread.push_back(threads);
    const int process = processes.at(timeline.lanes[lane].group);
    for (std::size_t row = 0; row < std::max<std::size_t>(1, rows[lane].size()); ++row) {
      const std::string further = row == 0 ? "" : " (" + std::to_string(row + 1) + ")";
      events.push_back(
          named("thread_name", process, threads++, timeline.lanes[lane].name + further));
    }
  }
  for (const std::size_t i : order) {
    const env::TimelineSpan& span = timeline.spans[i];
    json event = {{"name", span.name},
                  {"ph", "X"},
                  {"pid", processes.at(timeline.lanes[span.lane].group)},
                  {"tid", first_thread[span.lane] + row_of[i]},
                  {"ts", span.begins * timeline.microseconds_per_unit},
                  {"dur", (span.ends - span.begins) * timeline.microseconds_per_unit}};
    if (span.bytes) event["args"]["bytes"] = *span.bytes;
    if (!span.to.empty()) event["args"]["to"] = span.to;
    events.push_back(std::move(event));
  }
  return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
}

}  // namespace pacml::apps
