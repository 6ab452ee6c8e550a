#include "common/transport/patience_config.h"

#include <limits>

#include "tests/support/catch.h"

namespace pacml::transport {
namespace {

TEST_CASE("the default patience is valid", "[config]") {
  CHECK(validate(PatienceConfig{}).empty());
}

TEST_CASE("a patience that no clock can measure is named", "[config]") {
  const double bad = GENERATE(-1, 1e7, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN());
  CHECK(validate(PatienceConfig{.give_up_seconds = bad}) ==
        std::vector<std::string>{"give_up_seconds: must be in 0.001..1e6"});
  CHECK(validate(PatienceConfig{.farewell_seconds = bad}) ==
        std::vector<std::string>{"farewell_seconds: must be in 0..1e6"});
}

TEST_CASE("some things may be not waited for at all", "[config]") {
  CHECK(validate(PatienceConfig{.weights_seconds = 0, .farewell_seconds = 0}).empty());
  CHECK(validate(PatienceConfig{.hello_seconds = 0}).size() == 1);
}

}  // namespace
}  // namespace pacml::transport
