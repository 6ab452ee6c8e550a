#include "learner/learner_config.h"

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

using namespace std::chrono_literals;

TEST_CASE("evaluations take no more than their share of the time") {
  LearnerConfig config;
  config.evaluate_seconds = 15;
  config.evaluate_share = 0.2;
  CHECK(pause_after_evaluation(config, 0s) == 15s);
  CHECK(pause_after_evaluation(config, 3s) == 15s);
  CHECK(in_seconds(47.9) < pause_after_evaluation(config, 12s));
  CHECK(pause_after_evaluation(config, 12s) < in_seconds(48.1));
  config.evaluate_share = 1;
  CHECK(pause_after_evaluation(config, 12s) == 15s);
  config.evaluate_share = 1e-300;
  CHECK(pause_after_evaluation(config, 1h) > 24h);
}

TEST_CASE("a share of the time is above 0 and at most 1") {
  LearnerConfig config;
  REQUIRE(validate(config).empty());
  for (const double share : {0.0, -0.5, 1.01}) {
    config.evaluate_share = share;
    CHECK(validate(config) ==
          std::vector<std::string>{"evaluate_share: must be above 0, and at most 1"});
  }
}

}  // namespace
}  // namespace pacml::learner
