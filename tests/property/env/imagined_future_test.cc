#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/experience/observations.h"
#include "common/rng.h"
#include "env/graph/profile_library.h"
#include "env/tasks/partitioning/environment.h"
#include "env/tasks/partitioning/imagined_partitioning.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

// What is imagined is held against the simulator: a copy of the environment whose future is drawn
// with the same seed, decision by decision, to the last bit.
namespace pacml::env {
namespace {

PartitioningConfig usual() {
  PartitioningConfig c;
  c.profiles = testing::source_path("tests/golden/env/graphs").string();
  c.workload.interarrival.value = 60;
  c.cluster.max_simulation_time = 60 * 60;
  c.workload.replication_factor = 30;
  c.observation = ObservationKind::kCluster;
  return c;
}

// Each with what makes it another one.
struct Setting {
  std::string what;
  PartitioningConfig config;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  const auto add = [&all](const std::string& what) -> PartitioningConfig& {
    return all.emplace_back(Setting{what, usual()}).config;
  };
  add("as usual");
  add("corrected").semantics = Semantics::kCorrected;
  add("the paper's observation").observation = ObservationKind::kPaper;
  {
    auto& c = add("clusters of several sizes");
    c.observation = ObservationKind::kAnyCluster;
    c.further_topologies = {{2, 2, 2}, {5, 5, 3}, {3, 3, 3}};
    c.recent_arrivals = 5;
    c.workload.loads = {0.5, 1};
  }
  add("ends for good").time_limit = TimeLimit::kTerminated;
  add("recent arrivals").recent_arrivals = 5;
  add("masked choices refuse").apply_action_mask = false;
  add("lookaheads anew").cluster.lookahead_cache = LookaheadCache::kOff;
  {
    auto& c = add("a small cluster");
    c.ramp.topology = {2, 2, 2};
    c.max_partitions_per_op = 8;
  }
  {
    auto& c = add("more servers than bits");
    c.ramp.topology = {5, 5, 3};
    c.workload.interarrival.value = 20;
    c.cluster.max_simulation_time = 20 * 60;
  }
  {
    auto& c = add("memory decides where");
    c.ramp.worker_memory = 4e8;
    c.semantics = Semantics::kCorrected;
  }
  for (const double memory : {1e8, 4e8}) {
    add("memory decides whether").ramp.worker_memory = memory;
  }
  {
    auto& c = add("jobs run out before the time is up");
    c.workload.sampling = Sampling::kRemove;
    c.workload.replication_factor = 6;
    c.cluster.max_simulation_time = 1e6;
  }
  {
    auto& c = add("jobs run out as the time is up");
    c.workload.sampling = Sampling::kRemove;
    c.workload.replication_factor = 8;
    c.cluster.max_simulation_time = 60 * 17;
  }
  {
    auto& c = add("random arrivals at random loads");
    c.workload.interarrival = {.kind = DistributionKind::kPoisson, .value = 60};
    c.workload.loads = {0.5, 1, 2};
  }
  {
    auto& c = add("days and nights");
    c.workload.interarrival = {.kind = DistributionKind::kDiurnal, .value = 60, .period = 1200};
  }
  {
    auto& c = add("physical time");
    c.time_unit = TimeUnit::kPhysical;
  }
  {
    auto& c = add("a clock that is coarser than its tolerance");  // beyond 2^30
    constexpr double kLonger = 1e7;
    c.workload.num_training_steps *= static_cast<int>(kLonger);
    c.workload.interarrival.value *= kLonger;
    c.cluster.max_simulation_time *= kLonger;
  }
  {
    auto& c = add("completion times");
    c.reward = {.kind = RewardKind::kLookaheadJct,
                .fail_reward_factor = 2,
                .normaliser = RewardNormaliser::kSequentialTime};
  }
  add("two objectives").reward = {.kind = RewardKind::kMultiObjectiveJctBlocking,
                                  .blocking_weight = 3};
  return all;
}

Observations look(const Environment& env) {
  Observations out = env.spec().make_observations();
  env.observe(out);
  return out;
}

int random_action(const Environment& env, Rng& rng) {
  for (;;) {
    const int action =
        static_cast<int>(rng.below(static_cast<std::size_t>(env.spec().num_actions())));
    if (env.takes(action)) return action;
  }
}

void require_same_decision(const Environment& imagined, const Environment& simulated) {
  for (int action = -1; action <= simulated.spec().num_actions(); ++action) {
    REQUIRE(imagined.takes(action) == simulated.takes(action));
  }
  REQUIRE(look(imagined) == look(simulated));
}

bool is_compact(const Environment& env) {
  return dynamic_cast<const ImaginedPartitioning*>(&env) != nullptr;
}

// Plays both until the episode ends, by random actions, with copies and other futures on the way.
void play(std::unique_ptr<Environment> imagined, std::unique_ptr<Environment> simulated, Rng& rng,
          const std::vector<std::unique_ptr<Agent>>& rules) {
  for (;;) {
    require_same_decision(*imagined, *simulated);
    for (const auto& rule : rules) REQUIRE(rule->act(*imagined) == rule->act(*simulated));
    const int action = rng.below(3) == 0 ? rules[rng.below(rules.size())]->act(*simulated)
                                         : random_action(*simulated, rng);
    const auto unmoved = imagined->clone();
    if (rng.below(4) == 0) imagined = imagined->clone();
    const StepResult a = imagined->step(action);
    const StepResult b = simulated->step(action);
    REQUIRE(a.reward == b.reward);
    REQUIRE(a.elapsed == b.elapsed);
    REQUIRE(a.terminated == b.terminated);
    REQUIRE(a.truncated == b.truncated);
    const StepResult again = unmoved->step(action);
    REQUIRE((again.reward == a.reward && again.final() == a.final()));
    if (a.final()) {
      if (a.truncated) REQUIRE(look(*imagined) == look(*simulated));
      return;
    }
    if (rng.below(20) == 0) {
      const Seed other{rng.next()};
      REQUIRE(imagined->resample_future(other));
      REQUIRE(simulated->resample_future(other));
    }
  }
}

TEST_CASE("what is imagined is what the simulator would do", "[property][partitioning]") {
  for (const Setting& setting : settings()) {
    INFO(setting.what);
    const auto task = std::make_shared<const PartitioningTask>(
        setting.config, load_profiles(setting.config.profiles, {}));
    std::vector<std::unique_ptr<Agent>> rules;
    for (const char* name : {"min_feasible", "constant:4", "para_min", "para_max",
                             "min_parallelism", "no_parallelism"}) {
      rules.push_back(task->make_agent(name));
    }
    const auto env = task->make_factory()();
    int played = 0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      INFO("seed " << seed);
      Rng rng(Seed{seed});
      env->reset(Seed{seed});
      for (bool final = false; !final;) {
        if (rng.below(8) == 0) {
          const Seed future{rng.next()};
          auto imagined = env->imagine(future);
          auto simulated = env->clone();
          REQUIRE(simulated->resample_future(future));
          REQUIRE(is_compact(*imagined));
          play(std::move(imagined), std::move(simulated), rng, rules);
          ++played;
        }
        final = env->step(random_action(*env, rng)).final();
      }
    }
    CHECK(played >= 5);
  }
}

TEST_CASE("a planning cluster places jobs on blocks of servers as the simulator does",
          "[property][partitioning]") {
  PartitioningConfig config = usual();
  config.ramp.topology = GENERATE(std::array{4, 4, 2}, std::array{5, 5, 3});
  const auto task =
      std::make_shared<const PartitioningTask>(config, load_profiles(config.profiles, {}));
  PartitioningEnv env(task);
  const int servers = task->make_memo()->topology().num_servers();
  int placed = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    Rng rng(Seed{seed});
    env.reset(Seed{seed});
    Cluster simulated = env.cluster();
    JobStream jobs = simulated.jobs();
    REQUIRE(jobs.redraw(Seed{seed + 100}, simulated.waiting_job().arrived));
    PlanningCluster imagined(simulated,
                             std::make_shared<FutureJobs>(jobs, simulated.waiting_job().arrived));
    REQUIRE(simulated.resample_future(Seed{seed + 100}));
    while (!simulated.finished()) {
      ServerSet block(servers);
      for (int s = 0; s < servers; ++s) {
        if (rng.below(4) > 0) block.insert(static_cast<Server>(s));
      }
      const JobDecision decision{static_cast<int>(rng.below(9)), &block};
      const auto expected = simulated.outlook(decision);
      const auto found = imagined.outlook(decision);
      REQUIRE(found.cause == expected.cause);
      REQUIRE(found.placement == expected.placement);
      ClusterStepStats stats;
      const JobOutcome outcome = simulated.decide(decision, stats);
      while (!simulated.queued() && !simulated.finished()) simulated.wait(stats);
      REQUIRE(imagined.decide(decision).cause == outcome.cause);
      placed += outcome.cause == BlockCause::kNone ? 1 : 0;
      REQUIRE(imagined.finished() == simulated.finished());
      if (simulated.finished()) break;
      REQUIRE(imagined.mounted_workers() == simulated.mounted_workers());
      REQUIRE(imagined.time_left() == simulated.time_left());
      REQUIRE(imagined.num_running() == simulated.num_running());
      REQUIRE(imagined.waiting_job().arrived == simulated.waiting_job().arrived);
    }
  }
  CHECK(placed > 100);
}

TEST_CASE("what a planning cluster leaves out is imagined by the simulator",
          "[property][partitioning]") {
  PartitioningConfig config = usual();
  SECTION("throughput") { config.reward.kind = RewardKind::kMeanClusterThroughput; }
  SECTION("the first lookahead of the episode decides") {
    config.observation = ObservationKind::kPaper;
    config.cluster.lookahead_cache = LookaheadCache::kModelDegree;
  }
  const auto task =
      std::make_shared<const PartitioningTask>(config, load_profiles(config.profiles, {}));
  const auto env = task->make_factory()();
  env->reset(Seed{1});
  const auto imagined = env->imagine(Seed{2});
  REQUIRE(imagined);
  CHECK_FALSE(is_compact(*imagined));
  const auto simulated = env->clone();
  REQUIRE(simulated->resample_future(Seed{2}));
  Rng rng(Seed{3});
  for (bool final = false; !final;) {
    REQUIRE(look(*imagined) == look(*simulated));
    const int action = random_action(*simulated, rng);
    const StepResult result = imagined->step(action);
    REQUIRE(result.reward == simulated->step(action).reward);
    final = result.final();
  }
}

TEST_CASE("a list of jobs has no other future", "[property][partitioning]") {
  const PartitioningConfig config = usual();
  PartitioningEnv env(
      std::make_shared<const PartitioningTask>(config, load_profiles(config.profiles, {})));
  env.reset(JobStream::from_list({{0, 0.5, 0}, {1, 0.5, 60}}, 5));
  CHECK(env.imagine(Seed{1}) == nullptr);
}

}  // namespace
}  // namespace pacml::env
