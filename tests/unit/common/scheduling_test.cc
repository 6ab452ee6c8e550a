#include "common/scheduling.h"

#include <sched.h>

#include <thread>

#include "tests/support/catch.h"

namespace pacml {
namespace {

int policy() { return ::sched_getscheduler(0); }

TEST_CASE(
    "a thread that is scheduled as a batch starts others that are, until they say otherwise") {
  const int before = policy();
  int batch = -1;
  int started = -1;
  int normal = -1;
  std::thread([&] {
    use_batch_scheduling();
    batch = policy();
    std::thread([&] {
      started = policy();
      use_normal_scheduling();
      normal = policy();
    }).join();
    CHECK(policy() == batch);
  }).join();
  CHECK(policy() == before);
  CHECK(started == batch);
  CHECK(normal == before);
  if (before == SCHED_OTHER) CHECK((batch == SCHED_BATCH || batch == SCHED_OTHER));
}

TEST_CASE("who was started as a batch by others stays one") {
  std::thread([] {
    const sched_param none{};
    REQUIRE(::sched_setscheduler(0, SCHED_IDLE, &none) == 0);
    use_batch_scheduling();
    CHECK(policy() == SCHED_IDLE);
    use_normal_scheduling();
    CHECK(policy() == SCHED_IDLE);
  }).join();
}

}  // namespace
}  // namespace pacml
