#pragma once

#include <string>

#include "apps/run/train_config.h"
#include "tests/support/partitioning_of.h"

namespace pacml::testing {

// A run of the whole program that takes a moment: eight servers, one model of the built-in zoo,
// episodes of 20 jobs, a network of a few hundred weights.
inline apps::TrainConfig tiny_config() {
  apps::TrainConfig config;
  config.seed = 1;
  env::PartitioningConfig& task = partitioning_of(config);
  task.ramp.topology = {2, 2, 2};
  task.max_partitions_per_op = 4;
  task.cluster.max_simulation_time = 2e4;
  task.cluster.lookahead_cache = env::LookaheadCache::kModelDegree;
  task.workload.models = {"alexnet"};
  task.workload.replication_factor = 20;
  task.workload.requirement.kind = env::DistributionKind::kUniform;
  config.network = {.rounds = 1,
                    .message_width = 8,
                    .hidden_width = 8,
                    .node_width = 8,
                    .graph_width = 4,
                    .readout_width = 16};
  config.actor = {.environments = 8, .unroll_length = 10};
  config.impala.batch_decisions = 400;
  config.learner.metrics_seconds = 0.1;
  config.learner.checkpoint_seconds = 0.3;
  config.learner.evaluate_seconds = 0.5;
  config.learner.evaluate_episodes = 2;
  config.supervision.silence_seconds = 0;  // tests suspend processes for as long as it takes
  // Whoever ends in order waits for the disk. Where a role is to be killed, a test says how soon.
  config.supervision.stop_seconds = 1'000;
  return config;
}

// The same, learned by Ape-X out of two small shards that keep their proportions. A shard that is
// late is waited for: where one is to be lost, config.replay.patience_seconds says how soon.
inline apps::TrainConfig tiny_apex_config() {
  apps::TrainConfig config = tiny_config();
  config.algorithm = apps::AlgorithmKind::kApex;
  config.actors = 2;
  config.apex.batch_size = 64;
  config.apex.target_period = 50;
  config.replay.shards = 2;
  config.replay.table.capacity = 5'000;
  config.replay.table.min_size = 300;
  config.replay.table.samples_per_insert = 2;
  config.replay.table.error_buffer = 500;
  config.replay.snapshot_seconds = 0.2;
  config.replay.patience_seconds = 300;
  return config;
}

// Partitioning shows each degree by the cluster that it would leave behind, one network for all.
inline void show_candidates(apps::TrainConfig& config,
                            env::ObservationKind by = env::ObservationKind::kCluster) {
  partitioning_of(config).observation = by;
  partitioning_of(config).cluster.lookahead_cache = env::LookaheadCache::kPlacement;
  config.network.head = model::HeadKind::kCandidates;
}

// The same cluster, of which every degree shows what it would leave behind, learned by expert
// iteration: searches look three decisions ahead, and a hundred of them are an update.
inline apps::TrainConfig tiny_expert_config() {
  apps::TrainConfig config = tiny_config();
  config.algorithm = apps::AlgorithmKind::kExpertIteration;
  show_candidates(config);
  config.network.candidates = {.hidden_width = 8, .width = 8, .state_width = 8};
  config.expert = {.futures = 2, .horizon = 3, .first_horizon = 3};
  config.expert_iteration.batch_decisions = 100;
  config.expert_iteration.memory_decisions = 1'000;
  config.expert_iteration.samples_per_decision = 4;
  config.expert_iteration.minibatch_decisions = 100;
  return config;
}

}  // namespace pacml::testing
