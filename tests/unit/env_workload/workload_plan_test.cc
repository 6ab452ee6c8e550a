#include "env/workload/workload_plan.h"

#include <cmath>
#include <string>

#include "common/result.h"
#include "tests/support/catch.h"

namespace pacml::env {

TEST_CASE("the default workload is the published one") {
  const WorkloadConfig config;
  CHECK(validate(config).empty());
  const WorkloadPlan plan(config, 5);
  CHECK(plan.num_models() == 5);
  CHECK(plan.replication_factor() == 1000);
  CHECK(plan.sampling() == Sampling::kRemoveAndRepeat);
  CHECK(plan.interarrival().mean() == 1000);
}

TEST_CASE("every problem of a workload is told with its key") {
  WorkloadConfig config;
  config.replication_factor = 0;
  config.num_training_steps = 0;
  const auto problems = validate(config);
  REQUIRE(problems.size() == 2);
  CHECK(problems[0] == "replication_factor must be 1 to 1000000, not 0");
  CHECK(problems[1] == "num_training_steps must be at least 1, not 0");
  CHECK_THROWS_AS(WorkloadPlan(config, 1), UserError);
}

TEST_CASE("a plan is not made from a bad nested distribution") {
  WorkloadConfig config;
  config.interarrival = {.kind = DistributionKind::kPmf, .pmf = {{"1000", 0.5}}};
  CHECK_THROWS_WITH(WorkloadPlan(config, 1), "pmf must sum to 1, not 0.5");
  config.interarrival = WorkloadConfig{}.interarrival;
  config.requirement.min = 0.9;
  config.requirement.max = 0.5;
  CHECK_THROWS_WITH(WorkloadPlan(config, 1), "min (0.9) must not be above max (0.5)");
}

TEST_CASE("a load that nothing would arrive at, or everything at once, is refused") {
  WorkloadConfig config;
  const double load = GENERATE(0.0, -1.0, 1e-3, 101.0, std::nan(""));
  config.loads = {1, load};
  REQUIRE(validate(config).size() == 1);
  CHECK(validate(config)[0] == "loads must be from 0.01 to 100");
}

TEST_CASE("jobs that arrive at once are refused") {
  WorkloadConfig config;
  config.interarrival.value = 0;
  REQUIRE(validate(config).size() == 1);
  CHECK(validate(config)[0] == "interarrival value must be above 0");
}

}  // namespace pacml::env
