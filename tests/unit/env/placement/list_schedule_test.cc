#include "env/placement/list_schedule.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/index.h"
#include "env/placement/families.h"
#include "env/placement/peak_memory.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

// HEFT as one would write it down: who comes next is looked for among all, and when it could begin
// by a walk over all that is on a device.
GroupPlacement plain_heft(const PlacementProblem& problem) {
  const OpGraph& graph = *problem.graph;
  const DeviceSet& devices = *problem.devices;
  const OpFlows& flows = graph.flows(devices.semantics());
  const std::size_t ops = graph.num_ops();
  std::vector<double> rank(ops, 0.0);
  for (std::size_t i = ops; i-- > 0;) {
    const std::size_t v = at(graph.topological_order()[i]);
    double below = 0;
    for (std::size_t k = 0; k < flows.consumers[v].size(); ++k) {
      const double bytes = graph.output_bytes()[at(flows.outputs[v][k])];
      below = std::max(below, bytes * devices.mean_us_per_byte() + rank[at(flows.consumers[v][k])]);
    }
    rank[v] = graph.cost_us()[v] + below;
  }
  std::vector<double> group_bytes(graph.num_groups(), 0.0);
  for (std::size_t v = 0; v < ops; ++v) {
    group_bytes[at(graph.group_of()[v])] +=
        graph.bytes_out()[v] + resident_bytes(graph, devices, v);
  }
  GroupPlacement placement(graph.num_groups(), -1);
  std::vector<std::size_t> device_of(ops, devices.size());
  std::vector<double> end(ops, 0.0);
  std::vector<double> held(devices.size(), 0.0);
  std::vector<std::vector<std::pair<double, double>>> busy(devices.size());
  const auto is_done = [&](std::int32_t v) { return device_of[at(v)] < devices.size(); };
  for (std::size_t step = 0; step < ops; ++step) {
    std::size_t op = ops;
    for (std::size_t v = 0; v < ops; ++v) {
      if (is_done(static_cast<std::int32_t>(v))) continue;
      if (!std::ranges::all_of(graph.parents()[v], is_done)) continue;
      if (op == ops || rank[v] > rank[op]) op = v;
    }
    const std::size_t group = at(graph.group_of()[op]);
    std::vector<std::size_t> allowed;
    for (std::size_t d = 0; d < devices.size(); ++d) {
      const bool fits =
          problem.penalty.s_per_gb <= 0 || held[d] + group_bytes[group] <= problem.limit_bytes(d);
      if (placement[group] < 0 ? fits : at(placement[group]) == d) allowed.push_back(d);
    }
    if (allowed.empty()) {
      allowed.push_back(static_cast<std::size_t>(std::ranges::min_element(held) - held.begin()));
    }
    std::pair<double, double> best{0, std::numeric_limits<double>::infinity()};
    std::size_t device = 0;
    for (const std::size_t d : allowed) {
      double from = 0;
      for (std::size_t k = 0; k < flows.parents[op].size(); ++k) {
        const std::size_t parent = at(flows.parents[op][k]);
        double there = end[parent];
        if (const std::size_t sender = device_of[parent]; sender != d) {
          const double bytes = graph.output_bytes()[at(flows.parent_outputs[op][k])];
          there += bytes / devices.bytes_per_us(sender, d);
          there += devices.latency_us(sender, d);
        }
        from = std::max(from, there);
      }
      const double length = graph.cost_us()[op] / devices.speed(d);
      for (const auto& [first, last] : busy[d]) {
        if (last <= from) continue;
        if (from + length <= first) break;
        from = last;
      }
      if (from + length < best.second) {
        best = {from, from + length};
        device = d;
      }
    }
    if (placement[group] < 0) held[device] += group_bytes[group];
    placement[group] = static_cast<std::int32_t>(device);
    device_of[op] = device;
    end[op] = best.second;
    busy[device].insert(std::ranges::upper_bound(busy[device], best), best);
  }
  return placement;
}

OpGraphPtr random_graph(SplitMix& draws) {
  OpGraphSpec spec;
  const auto ops = 2 + static_cast<std::int32_t>(draws.below(150));
  // From a few whole costs, between which there are ties, to any.
  const std::uint64_t kind = draws.below(3);
  for (std::int32_t v = 0; v < ops; ++v) {
    const auto whole = static_cast<double>(draws.below(6));
    OpSpec op{.name = std::to_string(v),
              .cost_us = kind == 0   ? whole
                         : kind == 1 ? 0.1 * whole
                                     : 20 * draws.unit(),
              .output_bytes = {},
              .parameter_bytes = 1e6 * draws.unit()};
    for (auto outputs = draws.below(3); outputs > 0; --outputs) {
      op.output_bytes.push_back(std::trunc(40'000 * draws.unit() * draws.unit()));
    }
    if (draws.below(4) == 0) op.group = "group" + std::to_string(draws.below(5));
    spec.ops.push_back(std::move(op));
  }
  const auto edges = draws.below(static_cast<std::uint64_t>(2 * ops));
  for (std::uint64_t e = 0; e < edges; ++e) {
    const auto consumer = 1 + draws.below(static_cast<std::uint64_t>(ops - 1));
    spec.edges.push_back({.producer = static_cast<std::int32_t>(draws.below(consumer)),
                          .output = static_cast<std::int32_t>(draws.below(2)),
                          .consumer = static_cast<std::int32_t>(consumer)});
  }
  return std::make_shared<const OpGraph>(std::move(spec));
}

DeviceSetPtr random_devices(SplitMix& draws) {
  const auto count = 1 + static_cast<int>(draws.below(6));
  if (draws.below(3) == 0) return std::make_shared<const DeviceSet>(DeviceSet::placeto(count));
  DevicesConfig config;
  for (int d = 0; d < count; ++d) {
    config.corrected.devices.push_back({.name = std::to_string(d),
                                        .host = draws.below(2) == 0 ? "a" : "b",
                                        .speed = 1 + static_cast<double>(draws.below(3)) / 2,
                                        .memory_gb = 0.02 + 0.1 * draws.unit()});
  }
  config.corrected.local = {.gb_per_s = 10, .latency_us = 1};
  return std::make_shared<const DeviceSet>(config);
}

TEST_CASE("HEFT's schedules are those of a walk over all that is on a device",
          "[unit][placement]") {
  SplitMix draws(1);
  for (int i = 0; i < 400; ++i) {
    const OpGraphPtr graph = random_graph(draws);
    const DeviceSetPtr devices = random_devices(draws);
    const MemoryPenalty penalty{.s_per_gb = i % 2 == 0 ? 0.0 : 2.0};
    const PlacementProblem problem(graph, devices, penalty);
    INFO("problem " << i);
    REQUIRE(list_schedule(problem, ListRule::kHeft) == plain_heft(problem));
  }
}

// The longest first, each where it ends first: there are no gaps to look for, and none of the
// hundred thousand may be looked at for each of the others.
TEST_CASE("a hundred thousand operations that wait for nothing are placed by HEFT",
          "[unit][placement]") {
  constexpr std::size_t kDevices = 8;
  SplitMix draws(2);
  OpGraphSpec spec;
  for (int v = 0; v < 100'000; ++v) {
    spec.ops.push_back(
        {.name = std::to_string(v), .cost_us = 1 + draws.unit(), .output_bytes = {}});
  }
  const PlacementProblem problem(std::make_shared<const OpGraph>(std::move(spec)),
                                 std::make_shared<const DeviceSet>(DeviceSet::placeto(kDevices)));
  const auto costs = problem.graph->cost_us();
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t v) { return costs[v]; });
  GroupPlacement expected(costs.size());
  std::vector<double> busy_until(kDevices, 0.0);
  for (const std::size_t v : order) {
    const auto end = [&](double until) { return until + costs[v]; };
    const auto first = std::ranges::min_element(busy_until, {}, end);
    *first += costs[v];
    expected[v] = static_cast<std::int32_t>(first - busy_until.begin());
  }
  CHECK(list_schedule(problem, ListRule::kHeft) == expected);
}

}  // namespace
}  // namespace pacml::env
