#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/graph/profile_library.h"
#include "env/tasks/partitioning/environment.h"
#include "tests/support/catch.h"
#include "tests/support/environment_contract.h"
#include "tests/support/forgetful_memos.h"
#include "tests/support/golden.h"

// The environment contract on the partitioning task, one configuration a line.

namespace pacml::env {
namespace {

using Change = void (*)(PartitioningConfig&);

// An episode of a few dozen jobs that fill the cluster.
PartitioningConfig base() {
  PartitioningConfig c;
  c.workload.replication_factor = 20;
  c.cluster.max_simulation_time = 40'000;
  return c;
}

// Small graphs whose jobs take some 500 to 3000 in sequence.
void small_profiles(PartitioningConfig& c) {
  c.profiles = testing::source_path("tests/golden/env/graphs").string();
  c.workload.interarrival.value = 60;
  c.cluster.max_simulation_time = 6000;
}

const std::vector<std::pair<std::string, Change>> kConfigs = {
    {"built-in models, as published", [](PartitioningConfig&) {}},
    {"built-in models, cluster observation",
     [](PartitioningConfig& c) {
       c.observation = ObservationKind::kCluster;
       c.workload.models = {"alexnet", "gnmt"};
     }},
    {"small graphs, as published", small_profiles},
    {"small graphs, corrected semantics",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.semantics = Semantics::kCorrected;
     }},
    {"small graphs, cluster observation, corrected semantics, 2x2x2",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.semantics = Semantics::kCorrected;
       c.observation = ObservationKind::kCluster;
       c.ramp.topology = {2, 2, 2};
       c.max_partitions_per_op = 8;
     }},
    {"small graphs, cluster observation, degrees that no op reaches",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.observation = ObservationKind::kCluster;
       c.op_quantum = 2;
     }},
    {"small graphs, clusters of several sizes",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.observation = ObservationKind::kAnyCluster;
       c.further_topologies = {{2, 2, 2}, {5, 5, 3}};
       c.workload.loads = {0.5, 1};
     }},
    {"recorded jobs, cluster observation",
     [](PartitioningConfig& c) {
       c.observation = ObservationKind::kCluster;
       c.workload.recorded.file = testing::source_path("docs/examples/workload/jobs.csv").string();
     }},
    {"small graphs, 2x2x2, lookahead by model and degree",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.ramp.topology = {2, 2, 2};
       c.ramp.total_node_bandwidth = 3.125e9;
       c.cluster.lookahead_cache = LookaheadCache::kModelDegree;
     }},
    {"small graphs, cluster observation, 3x3x3, no lookahead cache",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.observation = ObservationKind::kCluster;
       c.ramp.topology = {3, 3, 3};
       c.ramp.total_node_bandwidth = 3.125e9;
       c.cluster.lookahead_cache = LookaheadCache::kOff;
     }},
    {"small graphs, no lookahead cache, 3x3x3",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.ramp.topology = {3, 3, 3};
       c.max_partitions_per_op = 18;
       c.cluster.lookahead_cache = LookaheadCache::kOff;
       c.cluster.max_simulation_time = 3000;
     }},
    {"small graphs in physical time",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.time_unit = TimeUnit::kPhysical;
       c.workload.interarrival.value = 0.06;
       c.cluster.max_simulation_time = 6;
     }},
    {"small graphs, each job once, without a time limit",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.workload.sampling = Sampling::kRemove;
       c.workload.replication_factor = 10;
       c.cluster.max_simulation_time = std::numeric_limits<double>::infinity();
     }},
    {"small graphs, random inter-arrival times, drawn with replacement",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.workload.sampling = Sampling::kReplace;
       c.workload.interarrival = {
           .kind = DistributionKind::kUniform, .min = 10, .max = 90, .decimals = 1};
     }},
    {"small graphs, arrivals by the day",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.workload.interarrival = {
           .kind = DistributionKind::kDiurnal, .value = 60, .amplitude = 0.9, .period = 600};
     }},
    {"one server",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.ramp.topology = {1, 1, 1};
       c.max_partitions_per_op = 1;
     }},
    {"completion times as reward",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.reward.kind = RewardKind::kLookaheadJct;
       c.reward.transform_with_log = true;
     }},
    {"multi-objective reward",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.reward.kind = RewardKind::kMultiObjectiveJctBlocking;
     }},
    {"throughput as reward",
     [](PartitioningConfig& c) {
       small_profiles(c);
       c.reward.kind = RewardKind::kMeanDemandTotalThroughput;
       c.reward.normalise = true;
     }},
};

TEST_CASE("the partitioning task keeps the environment contract", "[conformance][env]") {
  for (const auto& [name, change] : kConfigs) {
    DYNAMIC_SECTION(name) {
      PartitioningConfig config = base();
      change(config);
      const auto world = std::make_shared<const PartitioningTask>(
          config, load_profiles(config.profiles, config.workload.models));
      for (const std::uint64_t seed : {21U, 210U, 2100U}) {
        CAPTURE(seed);
        testing::check_environment_contract(
            [&world] { return std::make_unique<PartitioningEnv>(world); }, Seed{seed});
      }
    }
  }
}

TEST_CASE("environments that share nothing keep to the same episodes", "[conformance][env]") {
  PartitioningConfig config = base();
  small_profiles(config);
  testing::check_environment_contract(
      [&config] {
        return std::make_unique<PartitioningEnv>(
            std::make_shared<const PartitioningTask>(config, load_profiles(config.profiles, {})));
      },
      Seed{22});
}

TEST_CASE("partitioning's episodes do not depend on what is remembered", "[conformance][env]") {
  bool forgot = false;
  for (const auto& [name, change] : kConfigs) {
    INFO(name);
    PartitioningConfig config = base();
    change(config);
    const auto task = std::make_shared<const PartitioningTask>(
        config, load_profiles(config.profiles, config.workload.models));
    const auto lasting = task->make_memos();
    const auto forgetful = testing::forgetful_memos(*task);
    PartitioningEnv expected(task, lasting);
    PartitioningEnv actual(task, forgetful);
    for (const std::uint64_t seed : {21U, 210U}) {
      CAPTURE(seed);
      REQUIRE(testing::play_episode(actual, Seed{seed}) ==
              testing::play_episode(expected, Seed{seed}));
    }
    forgot |= forgetful->of(0)->counters().lookaheads > lasting->of(0)->counters().lookaheads;
  }
  CHECK(forgot);
}

}  // namespace
}  // namespace pacml::env
