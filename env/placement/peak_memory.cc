#include "env/placement/peak_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/index.h"
#include "env/placement/placement_simulator.h"

namespace pacml::env {
namespace {

struct Change {
  double time = 0;
  double bytes = 0;
  std::size_t device = 0;
};

// Frees before allocations at equal times.
void run_up(std::vector<Change>& changes, std::span<double> used, std::span<double> peak) {
  std::ranges::sort(changes, {}, [](const Change& c) { return std::pair(c.time, c.bytes); });
  for (const Change& change : changes) {
    used[change.device] += change.bytes;
    peak[change.device] = std::max(peak[change.device], used[change.device]);
  }
}

}  // namespace

double resident_bytes(const OpGraph& graph, const DeviceSet& devices, std::size_t op) {
  if (devices.semantics() == PlacementSemantics::kPlaceto) return 0;
  return graph.parameter_bytes()[op] * devices.bytes_per_parameter_byte() + graph.kept_bytes()[op];
}

void placeto_peak_bytes(const PlacementSimulator& run, std::span<double> peak) {
  const OpGraph& graph = run.graph();
  // Allocations come in the order in which operations started.
  std::vector<std::pair<double, std::int32_t>> frees;
  frees.reserve(graph.num_ops());
  for (const std::int32_t v : run.op_order()) {
    if (graph.bytes_out()[at(v)] == 0) continue;
    double freed = run.start_us()[at(v)];
    for (const std::int32_t c : graph.consumers()[at(v)]) {
      freed = std::max(freed,
                       std::trunc(run.start_us()[at(c)]) + std::trunc(graph.cost_us()[at(c)]) - 1);
    }
    frees.emplace_back(freed, v);
  }
  std::ranges::sort(frees);

  std::vector<double> used(peak.size(), 0.0);
  std::ranges::fill(peak, 0.0);
  auto next = frees.begin();
  for (const std::int32_t v : run.op_order()) {
    const double bytes = graph.bytes_out()[at(v)];
    if (bytes == 0) continue;
    // Allocations before frees at equal times.
    for (; next != frees.end() && next->first < run.start_us()[at(v)]; ++next) {
      used[at(run.device_of()[at(next->second)])] -= graph.bytes_out()[at(next->second)];
    }
    const auto device = at(run.device_of()[at(v)]);
    used[device] += bytes;
    peak[device] = std::max(peak[device], used[device]);
  }
}

void corrected_peak_bytes(const PlacementSimulator& run, std::span<double> peak) {
  const OpGraph& graph = run.graph();
  const OpFlows& flows = graph.flows(PlacementSemantics::kCorrected);
  // When each output can go from its own device.
  std::vector<double> gone(graph.num_outputs(), 0.0);
  std::vector<Change> changes;
  for (const std::int32_t t : run.transfer_order()) {
    const PlacedTransfer& transfer = run.transfer(t);
    gone[at(transfer.output)] = std::max(gone[at(transfer.output)], transfer.free_us);
    double needed = transfer.arrive_us;
    for (const std::int32_t c : flows.output_consumers[at(transfer.output)]) {
      if (run.device_of()[at(c)] == transfer.to) needed = std::max(needed, run.end_us()[at(c)]);
    }
    const double bytes = graph.output_bytes()[at(transfer.output)];
    changes.push_back({transfer.start_us, bytes, at(transfer.to)});
    changes.push_back({needed, -bytes, at(transfer.to)});
  }
  std::vector<double> used(peak.size(), 0.0);
  for (std::size_t v = 0; v < graph.num_ops(); ++v) {
    const auto device = at(run.device_of()[v]);
    used[device] += resident_bytes(graph, run.devices(), v);
    for (auto o = at(graph.first_output(v)); o < at(graph.first_output(v + 1)); ++o) {
      double needed = std::max(gone[o], run.end_us()[v]);
      for (const std::int32_t c : flows.output_consumers[o]) {
        if (at(run.device_of()[at(c)]) == device) {
          needed = std::max(needed, run.end_us()[at(c)]);
        }
      }
      changes.push_back({run.start_us()[v], graph.output_bytes()[o], device});
      changes.push_back({needed, -graph.output_bytes()[o], device});
    }
  }
  std::ranges::copy(used, peak.begin());
  run_up(changes, used, peak);
}

}  // namespace pacml::env
