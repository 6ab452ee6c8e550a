#include "apps/run/minutes_left.h"

#include "tests/support/catch.h"

namespace pacml::apps {
namespace {

TEST_CASE("what follows has the minutes that are left, and a moment at least", "[apps]") {
  using namespace std::chrono_literals;
  const TimePoint started{5h};
  CHECK(minutes_left(3, started, started + 90s) == 1.5);
  CHECK(minutes_left(3, started, started + 3min) == 0.001);
  CHECK(minutes_left(3, started, started + 1h) == 0.001);
  CHECK_FALSE(minutes_left(std::nullopt, started, started + 1h));
}

}  // namespace
}  // namespace pacml::apps
