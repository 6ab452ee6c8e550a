#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "common/clock.h"
#include "tests/support/catch.h"

// How tests wait: for an event, as long as it takes. What a machine that is busy with other things
// makes slow is no fault of the program; figures are for `pacml bench`.

namespace pacml::testing {

// For what must come: shortly before CTest would end this program (PACML_TEST_SECONDS after its
// start, which CMake sets by the test's time limit), so that a wait that is in vain fails where it
// stands and says what for. An hour from now for a program that is started by hand.
[[nodiscard]] Deadline soon();

// Waits for what another process or thread brings about.
template <class Condition>
void wait_until(const std::string& what, Condition holds, const Deadline& deadline = soon()) {
  while (!holds()) {
    INFO("waiting until " << what);
    REQUIRE_FALSE(deadline.expired());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // between two looks
  }
}

}  // namespace pacml::testing
