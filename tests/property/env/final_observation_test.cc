#include <memory>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "common/rng.h"
#include "env/graph/profile_library.h"
#include "env/tasks/partitioning/environment.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

// What an episode that the time limit cut shows last is what the same episode shows next where
// there is no limit.

namespace pacml::env {
namespace {

PartitioningConfig config_of(ObservationKind observation, double limit) {
  PartitioningConfig c;
  c.profiles = testing::source_path("tests/golden/env/graphs").string();
  c.ramp.topology = {2, 2, 2};
  c.max_partitions_per_op = 4;
  c.observation = observation;
  c.cluster.max_simulation_time = limit;
  c.workload.replication_factor = 12;
  c.workload.interarrival = {
      .kind = DistributionKind::kUniform, .min = 1, .max = 400, .decimals = 1};
  return c;
}

std::shared_ptr<const PartitioningTask> world_of(const PartitioningConfig& config) {
  return std::make_shared<const PartitioningTask>(config, load_profiles(config.profiles, {}));
}

Observations look(const PartitioningEnv& env) {
  Observations out = env.spec().make_observations();
  env.observe(out);
  return out;
}

int random_action(std::span<const std::uint8_t> mask, Rng& rng) {
  for (;;) {
    const auto a = rng.below(mask.size());
    if (mask[a] != 0) return static_cast<int>(a);
  }
}

TEST_CASE("a truncated episode ends with the observation that it would have gone on with",
          "[property][partitioning]") {
  const auto observation = GENERATE(ObservationKind::kPaper, ObservationKind::kCluster);
  constexpr double kLimit = 3000;
  PartitioningEnv limited(world_of(config_of(observation, kLimit)));
  PartitioningEnv endless(world_of(config_of(observation, 1e8)));
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    Rng rng(Seed{seed});
    limited.reset(Seed{seed});
    endless.reset(Seed{seed});
    StepResult result;
    Observations before;
    while (!result.final()) {
      before = look(limited);
      const int action = random_action(limited.mask(), rng);
      result = limited.step(action);
      REQUIRE_FALSE(endless.step(action).final());
    }
    REQUIRE(result.truncated);
    const Observations shown = look(limited);
    const Observations next = look(endless);
    REQUIRE(shown.graph(0) == next.graph(0));
    REQUIRE(std::vector(shown.masks().begin(), shown.masks().end()) ==
            std::vector(next.masks().begin(), next.masks().end()));
    const auto& names = limited.spec().observation.globals;
    for (std::size_t i = 0; i < next.num_globals(); ++i) {
      if (names[i].name == "time_left") continue;  // without the limit there is no end in sight
      INFO("global " << i);
      REQUIRE(shown.globals(0)[i] == Approx(next.globals(0)[i]).margin(1e-5));
    }
    const bool same = std::vector(shown.globals().begin(), shown.globals().end()) ==
                      std::vector(before.globals().begin(), before.globals().end());
    moved += same ? 0 : 1;
    // The figures of the episode are those at its limit.
    REQUIRE(limited.cluster().now() >= kLimit);
    REQUIRE(limited.cluster().running().empty());
  }
  REQUIRE(moved > 30);
}

}  // namespace
}  // namespace pacml::env
