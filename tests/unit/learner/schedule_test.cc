#include "learner/schedule.h"

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

TEST_CASE("a constant schedule never changes", "[unit][learner]") {
  const ScheduleConfig schedule{.kind = ScheduleKind::kConstant, .start = 3, .end = 1};
  REQUIRE(value_at(schedule, {}) == 3);
  REQUIRE(value_at(schedule, {.decisions = 1'000'000'000, .share_of_run = 0.5}) == 3);
}

TEST_CASE("a linear schedule goes from its start to its end and stays there", "[unit][learner]") {
  const ScheduleConfig schedule{
      .kind = ScheduleKind::kLinear, .start = 1, .end = 0.5, .decisions = 100};
  REQUIRE(value_at(schedule, {.decisions = 0}) == 1);
  REQUIRE(value_at(schedule, {.decisions = 50}) == Approx(0.75));
  REQUIRE(value_at(schedule, {.decisions = 50, .share_of_run = 0.1}) == Approx(0.75));
  REQUIRE(value_at(schedule, {.decisions = 100}) == 0.5);
  REQUIRE(value_at(schedule, {.decisions = 1000}) == 0.5);
}

TEST_CASE("a schedule over the run takes as long as the run", "[unit][learner]") {
  const ScheduleConfig schedule{.kind = ScheduleKind::kLinear,
                                .start = 1,
                                .end = 0.5,
                                .over = ScheduleSpan::kRun,
                                .decisions = 100};
  REQUIRE(value_at(schedule, {.decisions = 1000, .share_of_run = 0.0}) == 1);
  REQUIRE(value_at(schedule, {.decisions = 0, .share_of_run = 0.5}) == Approx(0.75));
  REQUIRE(value_at(schedule, {.decisions = 0, .share_of_run = 1.0}) == 0.5);
  // A run without an end.
  REQUIRE(value_at(schedule, {.decisions = 50}) == Approx(0.75));
}

TEST_CASE("schedules that cannot be followed are named", "[unit][learner]") {
  REQUIRE(validate(ScheduleConfig{}).empty());
  REQUIRE(validate(ScheduleConfig{.start = -1}).size() == 1);
  REQUIRE(validate(ScheduleConfig{.end = -1}).size() == 1);
  REQUIRE(validate(ScheduleConfig{.decisions = 0}).size() == 1);
}

}  // namespace
}  // namespace pacml::learner
