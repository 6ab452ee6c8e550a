#include "common/serving/own_absence.h"

#include "tests/support/catch.h"

namespace pacml::serving {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a server that turns as it should may forget whoever is silent") {
  ManualClock clock;
  OwnAbsence absence(1s, 10s);
  CHECK(absence.turn(clock.now()));
  for (const Duration late : {1s, 1s, 3s, 2s}) {
    clock.advance(late);
    CHECK(absence.turn(clock.now()));
  }
}

TEST_CASE("after an absence of its own a server measures the silence of others from its return") {
  ManualClock clock;
  OwnAbsence absence(1s, 10s);
  static_cast<void>(absence.turn(clock.now()));
  for (int again = 0; again < 2; ++again) {
    clock.advance(60s);
    for (int second = 0; second < 10; ++second) {
      CHECK_FALSE(absence.turn(clock.now()));
      clock.advance(1s);
    }
    CHECK(absence.turn(clock.now()));
  }
  // Who is away once more has not been back for long.
  clock.advance(4s);
  CHECK_FALSE(absence.turn(clock.now()));
  clock.advance(9s);
  CHECK_FALSE(absence.turn(clock.now()));
}

}  // namespace
}  // namespace pacml::serving
