#include "common/clock.h"

#include <limits>

#include "tests/support/catch.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a manual clock moves only when told", "[clock]") {
  ManualClock clock;
  const TimePoint start = clock.now();
  REQUIRE(clock.now() == start);
  clock.advance(5s);
  REQUIRE(clock.now() - start == 5s);
}

TEST_CASE("a deadline counts down to zero and stays there", "[clock]") {
  const TimePoint now{100s};
  const Deadline deadline{now + 30ms};
  REQUIRE(deadline.remaining(now) == 30ms);
  REQUIRE_FALSE(deadline.expired(now));
  REQUIRE(deadline.remaining(now + 30ms) == 0ms);
  REQUIRE(deadline.expired(now + 30ms));
  REQUIRE(deadline.remaining(now + 1h) == 0ms);
}

TEST_CASE("what remains is rounded up, so that a poll never spins", "[clock]") {
  const TimePoint now{100s};
  REQUIRE(Deadline{now + 1us}.remaining(now) == 1ms);
}

TEST_CASE("never is far away and now is past", "[clock]") {
  REQUIRE_FALSE(Deadline::never().expired());
  REQUIRE(Deadline::never().remaining() == 1h);
  REQUIRE(Deadline::now().expired());
  REQUIRE(Deadline::now().remaining() == 0ms);
}

TEST_CASE("seconds beyond what a clock can count are for ever, not long ago", "[clock]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(in_seconds(0.25) == 250ms);
  for (const double absurd : {1e10, 1e30, 1e300, kInfinity}) {
    INFO(absurd);
    CHECK(in_seconds(absurd) == kForever);
    CHECK(in_seconds(-absurd) == -kForever);
    CHECK(std::chrono::steady_clock::now() + in_seconds(absurd) > std::chrono::steady_clock::now());
  }
  CHECK(in_seconds(std::numeric_limits<double>::quiet_NaN()) == 0s);
  CHECK_FALSE(Deadline::in(Duration::max()).expired());
}

}  // namespace
}  // namespace pacml
