#include "env/placement/min_cut.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "env/placement/families.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

PlacementProblem problem_of(OpGraphSpec spec, const DeviceSet& devices) {
  return {std::make_shared<const OpGraph>(std::move(spec)),
          std::make_shared<const DeviceSet>(devices)};
}

DeviceSet of_speeds(const std::vector<double>& speeds) {
  DevicesConfig config;
  for (const double speed : speeds) {
    config.corrected.devices.push_back(
        {.name = "d" + std::to_string(config.corrected.devices.size()), .speed = speed});
  }
  return DeviceSet(config);
}

// What each device has to do, as a share of all.
std::vector<double> shares(const PlacementProblem& problem, const GroupPlacement& placement) {
  std::vector<double> work(problem.num_devices(), 0.0);
  for (std::size_t g = 0; g < placement.size(); ++g) {
    work.at(static_cast<std::size_t>(placement[g])) += problem.groups->attributes()[g].cost_us;
  }
  for (double& share : work) share /= problem.graph->total_cost_us();
  return work;
}

// `cliques` of `size` operations that exchange much, in a ring in which little goes on.
OpGraphSpec ring_of_cliques(std::int32_t cliques, std::int32_t size) {
  OpGraphSpec spec;
  for (std::int32_t v = 0; v < cliques * size; ++v) {
    spec.ops.push_back(
        {.name = "n" + std::to_string(v), .cost_us = 100, .output_bytes = {1e6, 10}});
    for (std::int32_t u = v - v % size; u < v; ++u) spec.edges.push_back({u, 0, v});
    if (v % size == 0 && v > 0) spec.edges.push_back({v - 1, 1, v});
  }
  return spec;
}

TEST_CASE("what exchanges much stays together, and work is shared", "[unit][placement]") {
  for (const int devices : {2, 4}) {
    const auto problem = problem_of(ring_of_cliques(4, 6), DeviceSet::placeto(devices));
    const GroupPlacement placement = place_by_min_cut(problem);
    CAPTURE(devices);
    for (std::size_t v = 0; v < placement.size(); ++v) {
      CHECK(placement[v] == placement[v - v % 6]);
    }
    for (const double share : shares(problem, placement)) CHECK(share == Approx(1.0 / devices));
    CHECK(place_by_min_cut(problem) == placement);
  }
}

TEST_CASE("a device's piece is as large as it is fast", "[unit][placement]") {
  const auto problem = problem_of(ring_of_cliques(30, 2), of_speeds({1, 3, 2}));
  const auto share = shares(problem, place_by_min_cut(problem));
  CHECK(share[0] == Approx(1.0 / 6).margin(0.05));
  CHECK(share[1] == Approx(3.0 / 6).margin(0.05));
  CHECK(share[2] == Approx(2.0 / 6).margin(0.05));
}

TEST_CASE("devices of which one can do next to nothing are no trouble", "[unit][placement]") {
  for (const auto& speeds : {std::vector{1e12, 1e-9}, {1e-9, 1e12, 1.0}, {1e18, 1e-9, 1e-9}}) {
    const auto problem = problem_of(ring_of_cliques(4, 3), of_speeds(speeds));
    const auto share = shares(problem, place_by_min_cut(problem));
    const auto fastest = std::ranges::max_element(speeds) - speeds.begin();
    CHECK(share[static_cast<std::size_t>(fastest)] > 0.9);
  }
}

TEST_CASE("graphs that cannot be cut evenly have a placement all the same", "[unit][placement]") {
  const auto placed = [](OpGraphSpec spec, const DeviceSet& devices) {
    const auto problem = problem_of(std::move(spec), devices);
    const GroupPlacement placement = place_by_min_cut(problem);
    CHECK(placement.size() == problem.num_groups());
    for (const std::int32_t d : placement) {
      CHECK(d >= 0);
      CHECK(d < static_cast<std::int32_t>(devices.size()));
    }
    return placement;
  };
  const OpSpec heavy{.name = "heavy", .cost_us = 1e12, .output_bytes = {1e12}};
  const OpSpec free_of_cost{.name = "free", .cost_us = 0, .output_bytes = {0}};
  // The fastest has what little there is.
  CHECK(placed({{heavy}, {}}, of_speeds({1, 1, 2})) == GroupPlacement{2});
  placed({{free_of_cost}, {}}, DeviceSet::placeto(8));
  placed({{free_of_cost, heavy}, {{0, 0, 1}}}, DeviceSet::placeto(8));
  OpGraphSpec skewed = family_graph("layered", 3);
  skewed.ops.front().cost_us = 1e12;
  placed(skewed, DeviceSet::placeto(8));
  OpGraphSpec no_edges;
  for (int v = 0; v < 9; ++v) {
    no_edges.ops.push_back({.name = std::to_string(v), .cost_us = 1, .output_bytes = {}});
  }
  placed(no_edges, DeviceSet::placeto(4));
  placed(no_edges, DeviceSet::placeto(1));
}

}  // namespace
}  // namespace pacml::env
