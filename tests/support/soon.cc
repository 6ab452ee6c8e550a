#include "tests/support/soon.h"

#include <cstdlib>

namespace pacml::testing {
namespace {

const TimePoint kStarted = std::chrono::steady_clock::now();

}  // namespace

Deadline soon() {
  const char* const seconds = std::getenv("PACML_TEST_SECONDS");
  if (seconds == nullptr) return Deadline::in(std::chrono::hours(1));
  return Deadline(kStarted + std::chrono::seconds(std::atoi(seconds)));
}

}  // namespace pacml::testing
