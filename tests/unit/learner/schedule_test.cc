#include "learner/schedule.h"

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

TEST_CASE("a constant schedule never changes", "[unit][learner]") {
  const ScheduleConfig schedule{.kind = ScheduleKind::kConstant, .start = 3, .end = 1};
  REQUIRE(value_at(schedule, {}) == 3);
  REQUIRE(value_at(schedule, {.decisions = 1'000'000'000, .run = {.share = 0.5}}) == 3);
}

TEST_CASE("a linear schedule goes from its start to its end and stays there", "[unit][learner]") {
  const ScheduleConfig schedule{
      .kind = ScheduleKind::kLinear, .start = 1, .end = 0.5, .decisions = 100};
  REQUIRE(value_at(schedule, {.decisions = 0}) == 1);
  REQUIRE(value_at(schedule, {.decisions = 50}) == Approx(0.75));
  REQUIRE(value_at(schedule, {.decisions = 50, .run = {.share = 0.1}}) == Approx(0.75));
  REQUIRE(value_at(schedule, {.decisions = 100}) == 0.5);
  REQUIRE(value_at(schedule, {.decisions = 1000}) == 0.5);
}

TEST_CASE("a schedule over the run takes as long as the run", "[unit][learner]") {
  const ScheduleConfig schedule{.kind = ScheduleKind::kLinear,
                                .start = 1,
                                .end = 0.5,
                                .over = ScheduleSpan::kRun,
                                .decisions = 100};
  REQUIRE(value_at(schedule, {.decisions = 1000, .run = {.share = 0.0}}) == 1);
  REQUIRE(value_at(schedule, {.decisions = 0, .run = {.share = 0.5}}) == Approx(0.75));
  REQUIRE(value_at(schedule, {.decisions = 0, .run = {.share = 1.0}}) == 0.5);
  // A run without an end.
  REQUIRE(value_at(schedule, {.run = {.decisions = 50}}) == Approx(0.75));
  REQUIRE(value_at(schedule, {.run = {.share = 0.8, .decisions = 50}}) == 0.5);
}

TEST_CASE("a run that is gone on with covers the way that is left", "[unit][learner]") {
  // 30 decisions without an end, then half of what a process had to do.
  const RunPosition position = RunPosition{.decisions = 30}.after(0.5);
  CHECK(position.share_of(100) == Approx(0.3 + 0.7 / 2));
  CHECK(position.share_of(40) == Approx(0.75 + 0.25 / 2));
  CHECK(position.share_of(20) == 1);  // it had come to its end
  CHECK(RunPosition{.share = 0.8}.after(0).share_of(100) == 0.8);
  CHECK(RunPosition{.share = 0.8}.after(1).share_of(100) == 1);
}

TEST_CASE("schedules that cannot be followed are named", "[unit][learner]") {
  REQUIRE(validate(ScheduleConfig{}).empty());
  REQUIRE(validate(ScheduleConfig{.start = -1}).size() == 1);
  REQUIRE(validate(ScheduleConfig{.end = -1}).size() == 1);
  REQUIRE(validate(ScheduleConfig{.decisions = 0}).size() == 1);
}

}  // namespace
}  // namespace pacml::learner
