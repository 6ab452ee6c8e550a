#include "replay/insert_allowance.h"

#include "tests/support/catch.h"

namespace pacml::replay {
namespace {

TEST_CASE("each draw is leave for some transitions to come in, and a burst is kept",
          "[unit][replay]") {
  InsertAllowance allowance(8, 100);
  REQUIRE(allowance.bounded());
  CHECK(allowance.left() == 100);
  allowance.inserted(130);
  CHECK(allowance.left() < 1);
  allowance.drawn(3);
  CHECK(allowance.left() < 1);
  allowance.drawn(1);
  CHECK(allowance.left() == 2);
  allowance.drawn(1'000);
  CHECK(allowance.left() == 100);
  allowance.inserted(500);
  allowance.forgive();
  CHECK(allowance.left() == 100);
}

TEST_CASE("without a ratio nothing is bounded", "[unit][replay]") {
  CHECK_FALSE(InsertAllowance(0, 100).bounded());
}

}  // namespace
}  // namespace pacml::replay
