#include "env/placement/placing_schedule.h"

#include <memory>
#include <string>
#include <utility>

#include "tests/support/catch.h"

namespace pacml::env {
namespace {

// Two devices of speeds 1 and 2, 1000 bytes a microsecond and 3 us of latency between them: `a`
// feeds `b` and `c`, `e` feeds `f`.
PlacementProblem two_pieces() {
  DevicesConfig devices;
  devices.corrected.devices = {{.name = "slow", .speed = 1}, {.name = "fast", .speed = 2}};
  devices.corrected.local = {.gb_per_s = 1, .latency_us = 3};
  const auto op = [](std::string name, double cost_us) {
    return OpSpec{.name = std::move(name), .cost_us = cost_us, .output_bytes = {2000}};
  };
  return {std::make_shared<const OpGraph>(
              OpGraphSpec{{op("a", 10), op("b", 4), op("c", 6), op("e", 1), op("f", 8)},
                          {{0, 0, 1}, {0, 0, 2}, {3, 0, 4}}}),
          std::make_shared<const DeviceSet>(devices)};
}

constexpr std::size_t kA = 0;
constexpr std::size_t kB = 1;
constexpr std::size_t kC = 2;
constexpr std::size_t kE = 3;
constexpr std::size_t kF = 4;

TEST_CASE("groups are scheduled as they are placed, and those to come take no time",
          "[unit][placement]") {
  const PlacementProblem problem = two_pieces();
  PlacingSchedule schedule(problem);
  CHECK(schedule.length_us() == 0);
  CHECK(schedule.slot(kB, 0).finish_us == 4);  // whose parent has not been placed
  schedule.place(kA, 0);                       // 0 .. 10
  const auto beside = schedule.slot(kB, 0);
  CHECK(beside.start_us == 10);
  CHECK(beside.finish_us == 14);
  const auto away = schedule.slot(kB, 1);
  CHECK(away.ready_us == 15);  // 2 us on the way and 3 of latency
  CHECK(away.finish_us == 17);
  schedule.place(kB, 1);
  CHECK(schedule.length_us() == 17);
}

TEST_CASE("an output is sent to a device once, and a channel sends one after another",
          "[unit][placement]") {
  const PlacementProblem problem = two_pieces();
  PlacingSchedule schedule(problem);
  schedule.place(kA, 0);
  schedule.place(kB, 1);  // a's output leaves from 10 to 12
  const auto again = schedule.slot(kC, 1);
  CHECK(again.ready_us == 15);
  CHECK(again.start_us == 17);  // behind b
  CHECK(again.finish_us == 20);
  schedule.place(kE, 0);  // 10 .. 11
  CHECK(schedule.slot(kF, 0).finish_us == 19);
  CHECK(schedule.slot(kF, 1).ready_us == 17);  // from 12 to 14, and 3 of latency
}

}  // namespace
}  // namespace pacml::env
