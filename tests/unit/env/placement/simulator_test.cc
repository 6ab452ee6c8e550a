#include <memory>
#include <vector>

#include "env/placement/binding_chain.h"
#include "env/placement/families.h"
#include "env/placement/list_schedule.h"
#include "env/placement/placement_problem.h"
#include "env/placement/placement_search.h"
#include "env/placement/placement_simulator.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

using Devices = std::vector<std::int32_t>;

OpSpec op(std::string name, double cost, std::vector<double> bytes, double parameters = 0) {
  return {.name = std::move(name),
          .cost_us = cost,
          .output_bytes = std::move(bytes),
          .parameter_bytes = parameters};
}

OpGraphPtr graph_of(OpGraphSpec spec) { return std::make_shared<const OpGraph>(std::move(spec)); }

DeviceSetPtr placeto(int count) {
  return std::make_shared<const DeviceSet>(DeviceSet::placeto(count));
}

// Devices of speeds 1, 2, ...; 1000 bytes a microsecond, 3 us of latency; nothing between
// operations.
DevicesConfig plain_devices(int count) {
  DevicesConfig config;
  for (int d = 0; d < count; ++d) {
    config.corrected.devices.push_back(
        {.name = "gpu" + std::to_string(d), .speed = d + 1.0, .memory_gb = 1, .launch_us = 0});
  }
  config.corrected.local = {.gb_per_s = 1, .latency_us = 3};
  config.corrected.bytes_per_parameter_byte = 4;
  return config;
}

DeviceSetPtr corrected(const DevicesConfig& config) {
  return std::make_shared<const DeviceSet>(config);
}

double best_of(const OpGraphSpec& spec, int devices) {
  PlacementEvaluator evaluator(
      std::make_shared<const PlacementProblem>(graph_of(spec), placeto(devices)));
  return enumerate(evaluator, 1 << 20)->runtime_s * 1e6;
}

TEST_CASE("the published simulator's last event may come long after the last operation",
          "[unit][placement]") {
  // a 0..10, b 15.7..20.7; the bus of device 0: a's second output 10..12 (free at 37), its first
  // 37..38 (free at 63), b's from 63 on; d waits for it, and the bus is free 25 us later.
  PlacementSimulator simulator(
      graph_of({{op("a", 10, {7600, 15200}), op("b", 5, {1}), op("c", 7, {1}), op("d", 0, {})},
                {{0, 0, 1}, {0, 1, 2}, {1, 0, 3}, {2, 0, 3}, {0, 0, 3}}}),
      placeto(2));
  CHECK(simulator.run(Devices{0, 0, 1, 1}) == Approx(88.00013157894736).epsilon(1e-15));
  // d waited for b's output, and that for a's outputs before it on the bus: c could be anywhere.
  CHECK(binding_groups(simulator) == Devices{3, 1, 0});
  CHECK(simulator.start_us()[2] == 12);
  CHECK(simulator.end_us()[3] == Approx(63.00013157894737).epsilon(1e-15));
  CHECK(simulator.num_events() == 16);
  CHECK(simulator.transfer_order().size() == 3);
  CHECK(simulator.run(Devices{0, 0, 0, 0}) == Approx(39.1).epsilon(1e-15));
  CHECK(simulator.peak_bytes()[0] == 22802);
}

// (N + 2) c + x + (N + 1) 5.7 for two chains, (N + 2) c + 2 x + N 5.7 for more, of operations of c
// us with transfers of x us; the others were found by an independent implementation.
TEST_CASE("the best placements of plain graphs are those that are known", "[unit][placement]") {
  constexpr double kCost = 1000;
  constexpr double kBytes = 760'000;
  CHECK(best_of(chain_graph(3, 2, kCost, kBytes), 2) == Approx(5122.8));
  CHECK(best_of(chain_graph(4, 2, kCost, kBytes), 2) == Approx(6128.5));
  CHECK(best_of(chain_graph(3, 3, kCost, kBytes), 3) == Approx(5217.1));
  CHECK(best_of(crown_graph(4, 2, kCost, kBytes), 2) == Approx(6128.5));
  CHECK(best_of(chain_graph(4, 2, 1, 1), 2) == Approx(46.9));
  CHECK(best_of(crown_graph(4, 2, 1, 0.5), 2) == Approx(51.0).margin(0.01));
}

TEST_CASE("with corrected semantics each device gets its copy over its link", "[unit][placement]") {
  // a on a device of speed 1; b and c read its output on devices of speeds 2 and 3. Two links: both
  // transfers take 10..12 and arrive at 15.
  const auto graph =
      graph_of({{op("a", 10, {2000}), op("b", 8, {}), op("c", 9, {})}, {{0, 0, 1}, {0, 0, 2}}});
  PlacementSimulator simulator(graph, corrected(plain_devices(3)));
  CHECK(simulator.run(Devices{0, 1, 2}) == 19);
  CHECK(simulator.start_us()[1] == 15);
  CHECK(simulator.end_us()[2] == 18);
  CHECK(simulator.transfer_order().size() == 2);
  CHECK(simulator.transfer(simulator.transfer_order()[1]).to == 2);
  // Both consumers on one device: one transfer.
  CHECK(simulator.run(Devices{0, 1, 1}) == 15 + 4 + 4.5);
  CHECK(simulator.transfer_order().size() == 1);
  // One port: the second waits for the first to leave.
  auto config = plain_devices(3);
  config.corrected.local.shared = LinkSharing::kDevice;
  PlacementSimulator ported(graph, corrected(config));
  CHECK(ported.run(Devices{0, 1, 2}) == 14 + 3 + 3);
}

TEST_CASE("with corrected semantics a consumer waits for every output that it reads",
          "[unit][placement]") {
  // a's outputs go one after the other, 10..18 and 18..22, and arrive 3 us later; b reads both.
  const auto graph =
      graph_of({{op("a", 10, {8000, 4000}), op("b", 6, {500})}, {{0, 0, 1}, {0, 1, 1}}});
  PlacementSimulator simulator(graph, corrected(plain_devices(2)));
  CHECK(simulator.run(Devices{0, 1}) == 25 + 3);
  CHECK(simulator.start_us()[1] == 25);
  CHECK(simulator.transfer_order().size() == 2);
  CHECK(simulator.peak_bytes()[0] == 12000);
  CHECK(simulator.peak_bytes()[1] == 12500);  // both copies, and what b writes
  CHECK(binding_groups(simulator) == Devices{1, 0});
  // In one place both are there until b ends.
  CHECK(simulator.run(Devices{0, 0}) == 16);
  CHECK(simulator.peak_bytes()[0] == 12500);
  // As published, the one named last is sent alone.
  PlacementSimulator published(graph, placeto(2));
  static_cast<void>(published.run(Devices{0, 1}));
  CHECK(published.transfer_order().size() == 1);
  CHECK(published.start_us()[1] == 10 + 4000 / 7600.0);
}

TEST_CASE("list schedules wait for every output that an operation reads", "[unit][placement]") {
  // c would start 3 us later on the other device, were it not for a's first output.
  auto config = plain_devices(2);
  config.corrected.devices[1].speed = 1;
  const PlacementProblem problem(
      graph_of({{op("a", 10, {1e6, 4}), op("b", 100, {}), op("c", 100, {})},
                {{0, 1, 1}, {0, 0, 2}, {0, 1, 2}}}),
      corrected(config));
  CHECK(list_schedule(problem, ListRule::kHeft) == Devices{0, 0, 0});
  CHECK(list_schedule(problem, ListRule::kEtf) == Devices{0, 0, 0});
}

TEST_CASE("hosts share a port, and what goes between them is slower", "[unit][placement]") {
  auto config = plain_devices(4);
  config.corrected.devices[2].host = config.corrected.devices[3].host = "host1";
  config.corrected.remote = {.gb_per_s = 0.5, .latency_us = 7, .shared = LinkSharing::kHost};
  const DeviceSet devices(config);
  CHECK(devices.channel(0, 2) == devices.channel(1, 3));
  CHECK(devices.channel(0, 2) != devices.channel(2, 0));
  CHECK(devices.channel(0, 1) != devices.channel(1, 0));
  CHECK(devices.bytes_per_us(0, 1) == 1000);
  CHECK(devices.bytes_per_us(1, 2) == 500);
  CHECK(devices.latency_us(3, 0) == 7);
  // 8 local pairs... are 4, each of 1/1000, and 8 between hosts of 1/500, among 16.
  CHECK(devices.mean_us_per_byte() == Approx((4 / 1000.0 + 8 / 500.0) / 16));
}

TEST_CASE("with corrected semantics copies and weights take memory", "[unit][placement]") {
  const auto graph = graph_of(
      {{op("a", 10, {2000}, 100), op("b", 8, {500}), op("c", 9, {})}, {{0, 0, 1}, {1, 0, 2}}});
  PlacementSimulator simulator(graph, corrected(plain_devices(2)));
  static_cast<void>(simulator.run(Devices{0, 1, 1}));
  // Weights four times, and the output until it has left.
  CHECK(simulator.peak_bytes()[0] == 400 + 2000);
  // The copy that b reads, and what it writes.
  CHECK(simulator.peak_bytes()[1] == 2500);
  static_cast<void>(simulator.run(Devices{0, 0, 0}));
  CHECK(simulator.peak_bytes()[0] == 400 + 2500);
  CHECK(simulator.peak_bytes()[1] == 0);
}

TEST_CASE("what an operation keeps takes memory as it is, and in placeto none",
          "[unit][placement]") {
  const auto graph = graph_of(
      {{{.name = "a", .cost_us = 10, .output_bytes = {20}, .parameter_bytes = 100, .kept_bytes = 7},
        op("b", 8, {})},
       {{0, 0, 1}}});
  PlacementSimulator simulator(graph, corrected(plain_devices(1)));
  static_cast<void>(simulator.run(Devices{0, 0}));
  CHECK(simulator.peak_bytes()[0] == 400 + 7 + 20);
  PlacementSimulator published(graph, placeto(1));
  static_cast<void>(published.run(Devices{0, 0}));
  CHECK(published.peak_bytes()[0] == 20);
}

TEST_CASE("memory over the limit costs time, up to the cap", "[unit][placement]") {
  const DeviceSet devices = DeviceSet::placeto(2);
  const std::vector<double> peak{3e9, 1e9};
  CHECK(penalised_runtime_s(5e5, peak, devices, {}) == 0.5);
  CHECK(penalised_runtime_s(5e5, peak, devices, {.s_per_gb = 2, .limit_gb = 2.5}) == 1.5);
  CHECK(penalised_runtime_s(5e5, peak, devices, {.s_per_gb = 2, .limit_gb = 4}) == 0.5);
  CHECK(penalised_runtime_s(5e5, peak, devices, {.s_per_gb = 2, .limit_gb = 0, .cap_s = 3}) == 3);
}

TEST_CASE("what can never fit is said in a sentence", "[unit][placement]") {
  const auto problem_of = [&](double parameters, double bytes) {
    return PlacementProblem(
        graph_of({{op("big", 1, {bytes}, parameters), op("other", 1, {1}, parameters)}, {}}),
        corrected(plain_devices(2)));
  };
  CHECK_FALSE(problem_of(1e6, 1e6).never_fits());
  CHECK(*problem_of(0, 2e9).never_fits() ==
        "the operation \"big\" needs 2.00 GB, and no device has more than 1.00 GB");
  DevicesConfig tiny = plain_devices(2);
  for (auto& device : tiny.corrected.devices) device.memory_gb = 1e-5;
  const PlacementProblem small(graph_of({{op("a", 1, {}, 25e3), op("b", 1, {})}, {}}),
                               corrected(tiny));
  CHECK(*small.never_fits() ==
        "the operation \"a\" needs 0.1 MB, and no device has more than 0.01 MB");
  const PlacementProblem keeps(
      graph_of({{{.name = "big", .cost_us = 1, .output_bytes = {}, .kept_bytes = 1.5e9}}, {}}),
      corrected(plain_devices(2)));
  CHECK(*keeps.never_fits() ==
        "the operation \"big\" needs 1.50 GB, and no device has more than 1.00 GB");
  const auto three = PlacementProblem(
      graph_of({{op("a", 1, {}, 2e8), op("b", 1, {}, 2e8), op("c", 1, {}, 2e8)}, {}}),
      corrected(plain_devices(2)));
  CHECK(*three.never_fits() == "the weights need 2.40 GB, and all devices together have 2.00 GB");
}

TEST_CASE("twenty thousand operations are placed and simulated", "[unit][placement]") {
  const auto graph = graph_of(chain_graph(200, 100, 100, 7600));
  REQUIRE(graph->num_ops() == 20'002);
  for (const auto& devices : {placeto(8), corrected(plain_devices(8))}) {
    const auto problem = std::make_shared<const PlacementProblem>(graph, devices);
    PlacementEvaluator evaluator(problem);
    const double single = evaluator.runtime_s(place_on_one(*problem, 7));
    CHECK(evaluator.runtime_s(list_schedule(*problem, ListRule::kHeft)) < single / 2);
    CHECK(evaluator.simulator().peak_bytes()[0] > 0);
  }
}

TEST_CASE("of many operations that can start at once, ETF looks at the first alone",
          "[unit][placement]") {
  OpGraphSpec spec;
  for (int v = 0; v < 100'000; ++v) spec.ops.push_back(op(std::to_string(v), 10, {1}));
  const PlacementProblem problem(graph_of(std::move(spec)), placeto(4));
  const auto placement = list_schedule_within(problem, ListRule::kEtf, 1'000'000);
  REQUIRE(placement);
  for (std::size_t v = 0; v < placement->size(); ++v) {
    REQUIRE((*placement)[v] == static_cast<std::int32_t>(v % 4));
  }
}

TEST_CASE("a list schedule that takes more than it may is none", "[unit][placement]") {
  const PlacementProblem problem(graph_of(chain_graph(100, 100, 100, 7600)), placeto(2));
  for (const ListRule rule : {ListRule::kHeft, ListRule::kEtf}) {
    CHECK_FALSE(list_schedule_within(problem, rule, 1000));
    CHECK(list_schedule_within(problem, rule, 100'000'000) == list_schedule(problem, rule));
  }
}

TEST_CASE("searches never end above where they began, and say when they improved",
          "[unit][placement]") {
  const auto problem =
      std::make_shared<const PlacementProblem>(graph_of(family_graph("branch", 1000)), placeto(2));
  PlacementEvaluator evaluator(problem);
  const GroupPlacement start = place_on_one(*problem, 0);
  const double before = evaluator.runtime_s(start);
  for (const FoundPlacement& found :
       {descend(evaluator, start, 3), anneal(evaluator, start, 500, 1)}) {
    CHECK(found.runtime_s < before);
    CHECK(evaluator.runtime_s(found.device_of_group) == found.runtime_s);
    REQUIRE(found.improvements.size() > 1);
    CHECK(found.improvements.front().simulations == 1);
    CHECK(found.improvements.front().runtime_s == before);
    CHECK(found.improvements.back().runtime_s == found.runtime_s);
  }
  CHECK_FALSE(enumerate(evaluator, 1000).has_value());
}

}  // namespace
}  // namespace pacml::env
