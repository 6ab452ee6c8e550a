#include "common/fault_counter.h"

#include "tests/support/catch.h"

namespace pacml {
namespace {

using std::chrono::seconds;
const TimePoint kStart{std::chrono::hours{1}};

TEST_CASE("failures are counted, and the newest one's reason is kept", "[unit][faults]") {
  FaultCounter faults("nothing could be written", kStart);
  CHECK(faults.status(kStart).failures == 0);
  faults.failed("the disk is full", kStart);
  faults.failed("the disk is gone", kStart);
  auto status = faults.status(kStart);
  CHECK(status.failures == 2);
  CHECK(status.failing);
  CHECK(status.last == "the disk is gone");
  faults.succeeded(kStart);
  status = faults.status(kStart);
  CHECK(status.failures == 2);
  CHECK_FALSE(status.failing);
  CHECK(status.last == "the disk is gone");
}

TEST_CASE("the age is that of the last success, or of the counter", "[unit][faults]") {
  FaultCounter faults("x", kStart);
  CHECK(faults.status(kStart + seconds(3)).age_seconds == 3);
  faults.succeeded(kStart + seconds(4));
  faults.failed("y", kStart + seconds(5));
  CHECK(faults.status(kStart + seconds(6)).age_seconds == 2);
}

TEST_CASE("the log has the first failure, then one a minute, and the end", "[unit][faults]") {
  FaultCounter faults("x", kStart);
  CHECK_FALSE(faults.succeeded(kStart));
  CHECK(faults.failed("y", kStart));
  CHECK_FALSE(faults.failed("y", kStart + seconds(1)));
  CHECK_FALSE(faults.failed("y", kStart + seconds(59)));
  CHECK(faults.failed("y", kStart + seconds(61)));
  CHECK(faults.succeeded(kStart + seconds(62)));
  CHECK_FALSE(faults.succeeded(kStart + seconds(63)));
  CHECK(faults.failed("y", kStart + seconds(64)));  // another time, at once again
}

}  // namespace
}  // namespace pacml
