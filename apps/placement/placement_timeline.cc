#include "apps/placement/placement_timeline.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/cli/text_table.h"
#include "apps/evaluation/timeline_text.h"
#include "common/index.h"

namespace pacml::apps {
namespace {

constexpr double kGb = 1e9;

double last_end_us(const env::PlacementSimulator& run) {
  return *std::ranges::max_element(run.end_us());
}

std::string memory_text(const env::DeviceSet& devices, std::size_t d, double peak) {
  std::string text = format_number(peak / kGb, 3);
  if (std::isfinite(devices.memory_bytes(d))) {
    text += " of " + format_number(devices.memory_bytes(d) / kGb, 0);
  }
  return text + " GB";
}

}  // namespace

std::string timeline_text(env::PlacementSimulator& run, int columns) {
  const env::DeviceSet& devices = run.devices();
  const env::Timeline timeline = timeline_of(run);
  const auto bars = busy_bars(timeline, columns);
  const auto shares = busy_shares(timeline);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    rows.push_back({devices.name(d), bars[d], format_number(100 * shares[d], 0) + " %",
                    memory_text(devices, d, run.peak_bytes()[d])});
  }
  return align_columns(rows);
}

env::Timeline timeline_of(const env::PlacementSimulator& run) {
  const env::DeviceSet& devices = run.devices();
  env::Timeline out;
  out.title = "one execution";
  out.unit = "us";
  out.ends = last_end_us(run);
  for (const char* group : {"devices", "transfers, by device that sends"}) {
    for (std::size_t d = 0; d < devices.size(); ++d) out.lanes.push_back({group, devices.name(d)});
  }
  for (const std::int32_t v : run.op_order()) {
    out.spans.push_back({at(run.device_of()[at(v)]),
                         run.graph().name(at(v)),
                         run.start_us()[at(v)],
                         run.end_us()[at(v)],
                         std::nullopt,
                         {}});
  }
  for (const std::int32_t t : run.transfer_order()) {
    const env::PlacedTransfer& transfer = run.transfer(t);
    out.spans.push_back({devices.size() + at(transfer.from), run.graph().name(at(transfer.op)),
                         transfer.start_us, transfer.arrive_us,
                         run.graph().output_bytes()[at(transfer.output)],
                         transfer.to >= 0 ? devices.name(at(transfer.to)) : std::string()});
  }
  return out;
}

}  // namespace pacml::apps
