#include "apps/placement/placement_timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/cli/text_table.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

constexpr double kGb = 1e9;

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

double last_end_us(const env::PlacementSimulator& run) {
  return *std::ranges::max_element(run.end_us());
}

char shade(double busy) {
  constexpr std::array<char, 5> kShades{' ', '.', ':', '+', '#'};
  const double share = std::clamp(busy, 0.0, 1.0);
  return kShades[static_cast<std::size_t>(std::ceil(share * 4 - 1e-9))];
}

std::string memory_text(const env::DeviceSet& devices, std::size_t d, double peak) {
  std::string text = format_number(peak / kGb, 3);
  if (std::isfinite(devices.memory_bytes(d))) {
    text += " of " + format_number(devices.memory_bytes(d) / kGb, 0);
  }
  return text + " GB";
}

json thread_name(int pid, std::size_t tid, const std::string& name) {
  return {
      {"name", "thread_name"}, {"ph", "M"}, {"pid", pid}, {"tid", tid}, {"args", {{"name", name}}}};
}

json process_name(int pid, const std::string& name) {
  return {{"name", "process_name"}, {"ph", "M"}, {"pid", pid}, {"args", {{"name", name}}}};
}

}  // namespace

std::string timeline_text(env::PlacementSimulator& run, int columns) {
  const env::DeviceSet& devices = run.devices();
  const auto width = static_cast<std::size_t>(columns);
  const double end = std::max(last_end_us(run), 1e-9);
  const double cell = end / columns;
  std::vector<std::vector<double>> busy(devices.size(), std::vector<double>(width, 0.0));
  std::vector<double> total(devices.size(), 0.0);
  for (std::size_t v = 0; v < run.graph().num_ops(); ++v) {
    const std::size_t d = at(run.device_of()[v]);
    const double from = run.start_us()[v];
    const double until = run.end_us()[v];
    total[d] += until - from;
    const auto first = std::min(static_cast<std::size_t>(from / cell), width - 1);
    for (std::size_t c = first; c < width && static_cast<double>(c) * cell < until; ++c) {
      const double begin = static_cast<double>(c) * cell;
      busy[d][c] += std::max(0.0, std::min(until, begin + cell) - std::max(from, begin)) / cell;
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    std::string bar = "|";
    for (const double share : busy[d]) bar += shade(share);
    rows.push_back({devices.name(d), bar + "|", format_number(100 * total[d] / end, 0) + " %",
                    memory_text(devices, d, run.peak_bytes()[d])});
  }
  return align_columns(rows);
}

json chrome_trace(const env::PlacementSimulator& run) {
  constexpr int kDevices = 1;
  constexpr int kChannels = 2;
  const env::DeviceSet& devices = run.devices();
  json events = json::array();
  events.push_back(process_name(kDevices, "devices"));
  events.push_back(process_name(kChannels, "transfers, by device that sends"));
  for (std::size_t d = 0; d < devices.size(); ++d) {
    events.push_back(thread_name(kDevices, d, devices.name(d)));
    events.push_back(thread_name(kChannels, d, devices.name(d)));
  }
  for (const std::int32_t v : run.op_order()) {
    events.push_back({{"name", run.graph().name(at(v))},
                      {"ph", "X"},
                      {"pid", kDevices},
                      {"tid", run.device_of()[at(v)]},
                      {"ts", run.start_us()[at(v)]},
                      {"dur", run.end_us()[at(v)] - run.start_us()[at(v)]}});
  }
  for (const std::int32_t t : run.transfer_order()) {
    const env::PlacedTransfer& transfer = run.transfer(t);
    json event = {{"name", run.graph().name(at(transfer.op))},
                  {"ph", "X"},
                  {"pid", kChannels},
                  {"tid", transfer.from},
                  {"ts", transfer.start_us},
                  {"dur", transfer.arrive_us - transfer.start_us}};
    event["args"]["bytes"] = run.graph().output_bytes()[at(transfer.output)];
    if (transfer.to >= 0) event["args"]["to"] = devices.name(at(transfer.to));
    events.push_back(std::move(event));
  }
  return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
}

}  // namespace pacml::apps
