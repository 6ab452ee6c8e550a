#include "apps/launch/run_program.h"

#include <filesystem>
#include <fstream>

#include "common/result.h"
#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::apps;

TEST_CASE("what a program prints comes back") {
  CHECK(output_of({"sh", "-c", "echo out; echo err >&2"}) == "out\n");
}

TEST_CASE("a program that fails, or is not there, is said with what it says") {
  CHECK_THROWS_WITH(output_of({"sh", "-c", "echo reason >&2; exit 3"}),
                    "sh ended with code 3: reason\n");
  CHECK_THROWS_WITH(output_of({"no-such-program"}),
                    "this needs no-such-program, which is not on PATH");
  CHECK_THROWS_WITH(output_of({"sleep", "60"}, std::chrono::seconds(0)),
                    Catch::Contains("did not end within"));
}
