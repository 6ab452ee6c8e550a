#include "common/fault_counter.h"

#include "tests/support/catch.h"

namespace pacml {
namespace {

using std::chrono::seconds;

TEST_CASE("failures are counted, and the newest one's reason is kept", "[unit][faults]") {
  const ManualClock clock;
  FaultCounter faults("nothing could be written", clock);
  CHECK(faults.status().failures == 0);
  faults.failed("the disk is full");
  faults.failed("the disk is gone");
  auto status = faults.status();
  CHECK(status.failures == 2);
  CHECK(status.failing);
  CHECK(status.last == "the disk is gone");
  faults.succeeded();
  status = faults.status();
  CHECK(status.failures == 2);
  CHECK_FALSE(status.failing);
  CHECK(status.last == "the disk is gone");
}

TEST_CASE("the age is that of the last success, or of the counter", "[unit][faults]") {
  ManualClock clock;
  FaultCounter faults("x", clock);
  clock.advance(seconds(3));
  CHECK(faults.status().age_seconds == 3);
  faults.succeeded();
  clock.advance(seconds(1));
  faults.failed("y");
  clock.advance(seconds(1));
  CHECK(faults.status().age_seconds == 2);
}

TEST_CASE("the log has the first failure, then one a minute, and the end", "[unit][faults]") {
  ManualClock clock;
  FaultCounter faults("x", clock);
  CHECK_FALSE(faults.succeeded());
  CHECK(faults.failed("y"));
  clock.advance(seconds(1));
  CHECK_FALSE(faults.failed("y"));
  clock.advance(seconds(58));
  CHECK_FALSE(faults.failed("y"));
  clock.advance(seconds(1));
  CHECK(faults.failed("y"));
  clock.advance(seconds(1));
  CHECK(faults.succeeded());
  CHECK_FALSE(faults.succeeded());
  CHECK(faults.failed("y"));  // another time, at once again
}

}  // namespace
}  // namespace pacml
