#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/rng.h"
#include "env/graph/profile_library.h"
#include "env/tasks/partitioning/environment.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

// Random operations on small clusters: nothing that arrives is lost, no server holds two jobs, and
// what is remembered changes nothing.

namespace pacml::env {
namespace {

constexpr std::uint64_t kSeeds = 150;

template <class T>
T pick(Rng& rng, const std::vector<T>& values) {
  return values[rng.below(values.size())];
}

// A random cluster, workload and set of switches; a pure function of the stream.
PartitioningConfig random_config(Rng& rng) {
  PartitioningConfig c;
  c.profiles = testing::source_path("tests/golden/env/graphs").string();
  c.ramp.topology = pick<std::array<int, 3>>(rng, {{4, 4, 2}, {2, 2, 2}, {3, 2, 2}, {1, 1, 3}});
  c.ramp.total_node_bandwidth = pick<double>(rng, {1.6e12, 25e9, 3.125e9});
  c.ramp.worker_memory = pick<double>(rng, {80e9, 80e9, 1.2e9});
  c.max_partitions_per_op = pick<int>(rng, {4, 8, 16});
  c.cluster.max_simulation_time =
      pick<double>(rng, {3000, 6000, std::numeric_limits<double>::infinity()});
  c.workload.replication_factor = 12;
  c.workload.sampling = Sampling::kRemove;
  c.workload.interarrival = {.kind = DistributionKind::kUniform,
                             .min = 1,
                             .max = pick<double>(rng, {30, 200, 1500}),
                             .decimals = 1};
  const SemanticSwitches switches;
  visit_fields(switches, [&](std::string_view name, bool /*published*/) {
    if (rng.below(2) == 1) c.semantic_overrides[std::string(name)] = rng.below(2) == 1;
  });
  return c;
}

std::shared_ptr<const PartitioningTask> world_of(const PartitioningConfig& config) {
  return std::make_shared<const PartitioningTask>(config, load_profiles(config.profiles, {}));
}

int random_action(std::span<const std::uint8_t> mask, Rng& rng) {
  for (;;) {
    const auto a = rng.below(mask.size());
    if (mask[a] != 0) return static_cast<int>(a);
  }
}

// Servers of running jobs are disjoint, and together the occupied ones.
void check_occupancy(const Cluster& cluster) {
  int held = 0;
  ServerSet all(cluster.memo().topology().num_servers());
  for (const MountedJob& job : cluster.running()) {
    held += job.execution->servers.count();
    all.insert(job.execution->servers);
    REQUIRE(job.execution->num_servers == job.execution->servers.count());
  }
  REQUIRE(all.count() == held);
  REQUIRE(all == cluster.occupied());
}

TEST_CASE("every job that arrives is queued, running, completed or blocked",
          "[property][cluster]") {
  std::array<int, kNumBlockCauses> causes{};
  int completed = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    INFO("seed " << seed);
    Rng rng(Seed{seed});
    const PartitioningConfig config = random_config(rng);
    const bool running_is_blocked = !switches_of(config).running_at_end_is_not_blocked;
    PartitioningEnv env(world_of(config));
    env.keep_log(true);
    env.reset(Seed{seed});
    const Cluster& cluster = env.cluster();
    int running_before = 0;
    double last_time = 0;
    for (bool over = false; !over;) {
      const ClusterCounters& c = cluster.counters();
      const int running = static_cast<int>(cluster.running().size());
      REQUIRE(c.arrived == c.completed + c.blocked + running + 1);
      check_occupancy(cluster);
      REQUIRE(cluster.now() >= last_time);
      last_time = cluster.now();
      running_before = running;
      over = env.step(random_action(env.mask(), rng)).final();
    }
    const ClusterCounters& c = cluster.counters();
    const int queued = cluster.queued() ? 1 : 0;
    REQUIRE(cluster.running().empty());
    if (running_is_blocked) {
      REQUIRE(c.arrived == c.completed + c.blocked + queued);
    } else {
      REQUIRE(c.arrived >= c.completed + c.blocked + queued);
      REQUIRE(c.arrived <= c.completed + c.blocked + queued + running_before + 1);
    }
    int by_cause = 0;
    for (std::size_t cause = 0; cause < kNumBlockCauses; ++cause) {
      by_cause += c.blocked_by_cause[cause];
      causes[cause] += c.blocked_by_cause[cause];
    }
    completed += c.completed;
    REQUIRE(by_cause == c.blocked);

    // The log tells the same, each job once.
    const EpisodeLog& log = cluster.log();
    REQUIRE(log.completed.size() == static_cast<std::size_t>(c.completed));
    REQUIRE(log.blocked.size() == static_cast<std::size_t>(c.blocked));
    REQUIRE(log.load_rates.size() == static_cast<std::size_t>(c.arrived));
    std::set<int> indices;
    for (const auto& job : log.completed) indices.insert(job.index);
    for (const auto& job : log.blocked) indices.insert(job.index);
    REQUIRE(indices.size() == log.completed.size() + log.blocked.size());
    int arrived_in_steps = 1;  // the first one arrives with the reset
    for (const auto& step : log.steps) arrived_in_steps += step.jobs_arrived;
    REQUIRE(arrived_in_steps == c.arrived);
  }
  // The runs must have been of every kind.
  CHECK(completed > 500);
  for (const BlockCause cause : {BlockCause::kOpPartition, BlockCause::kOpPlacement,
                                 BlockCause::kCompletionTime, BlockCause::kSimulationEnded}) {
    CAPTURE(name_of(cause));
    CHECK(causes[static_cast<std::size_t>(cause)] > 10);
  }
}

TEST_CASE("a completed job kept its limit", "[property][cluster]") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    Rng rng(Seed{1000 + seed});
    PartitioningEnv env(world_of(random_config(rng)));
    env.keep_log(true);
    env.reset(Seed{seed});
    while (!env.step(random_action(env.mask(), rng)).final()) {
    }
    for (const CompletedJob& job : env.cluster().log().completed) {
      REQUIRE(job.completion_time <= job.max_acceptable_time * (1 + 1e-9) + 1e-6);
      REQUIRE(job.speedup == Approx(job.sequential_time / job.completion_time));
    }
  }
}

// What an episode came to, in bits.
std::vector<double> figures(PartitioningEnv& env, std::uint64_t seed) {
  Rng rng(Seed{seed});
  env.keep_log(true);
  env.reset(Seed{seed});
  std::vector<double> out;
  for (bool over = false; !over;) {
    out.insert(out.end(), env.globals().begin(), env.globals().end());
    const StepResult result = env.step(random_action(env.mask(), rng));
    out.push_back(result.reward);
    over = result.final();
  }
  for (const CompletedJob& job : env.cluster().log().completed) {
    out.insert(out.end(), {static_cast<double>(job.index), job.completion_time,
                           job.communication_overhead, job.computation_overhead, job.utilisation});
  }
  for (const ClusterStepStats& step : env.cluster().log().steps) {
    out.insert(out.end(), step.info.begin(), step.info.end());
    out.push_back(step.end_time);
  }
  return out;
}

TEST_CASE("the lookahead cache by placement changes nothing", "[property][cluster]") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    Rng rng(Seed{2000 + seed});
    PartitioningConfig config = random_config(rng);
    if (seed % 2 == 0) config.observation = ObservationKind::kCluster;
    config.cluster.lookahead_cache = LookaheadCache::kPlacement;
    PartitioningEnv cached(world_of(config));
    config.cluster.lookahead_cache = LookaheadCache::kOff;
    PartitioningEnv off(world_of(config));
    REQUIRE(figures(cached, seed) == figures(off, seed));
    REQUIRE(figures(cached, seed) == figures(off, seed));  // warm
  }
}

TEST_CASE("an episode does not depend on what the memo has seen before", "[property][cluster]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    Rng rng(Seed{3000 + seed});
    PartitioningConfig config = random_config(rng);
    config.cluster.lookahead_cache = LookaheadCache::kModelDegree;
    const auto used = world_of(config);
    PartitioningEnv warm(used);
    for (std::uint64_t other = 50; other < 54; ++other) static_cast<void>(figures(warm, other));
    PartitioningEnv cold(world_of(config));
    REQUIRE(figures(warm, seed) == figures(cold, seed));
  }
}

}  // namespace
}  // namespace pacml::env
