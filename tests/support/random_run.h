#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"
#include "common/config/dump.h"
#include "learner/checkpoint.h"
#include "learner/export/policy_safetensors.h"
#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"
#include "tests/support/tiny_run.h"

// Policies as training leaves them, but for what they have learned: their weights are random.

namespace pacml::testing {

// The tiny run, whose decisions show the cluster.
inline apps::TrainConfig cluster_config() {
  apps::TrainConfig config = tiny_config();
  show_candidates(config);
  env::PartitioningConfig& task = partitioning_of(config);
  task.cluster.max_simulation_time = 1e9;  // beyond what decisions show
  task.semantics = env::Semantics::kCorrected;
  task.workload.models = {"alexnet", "resnet18"};
  return config;
}

// The tiny run, but about another task with its own settings, whose candidates are nodes of that
// graph.
inline apps::TrainConfig config_of_task(const std::string& task, const std::string& graph) {
  apps::TrainConfig config = tiny_config();
  config.env = env::TaskConfig(task);
  config.network.head = model::HeadKind::kCandidates;
  config.network.encoders = {{.slot = graph}};
  return config;
}

inline model::NetworkShape shape_of(const apps::TrainConfig& config) {
  return model::make_shape(config.network, config.env.make()->spec());
}

// A run folder whose only checkpoint has the weights of this seed, at that many updates. An
// existing one gets another checkpoint. `values`: the moments of values, which such a checkpoint
// mostly lacks.
inline void write_random_run(const std::filesystem::path& folder, const apps::TrainConfig& config,
                             std::int64_t updates,
                             const std::map<std::string, double>& values = {}) {
  const auto run = apps::RunDirectory::holds_run(folder)
                       ? apps::RunDirectory::open(folder)
                       : apps::RunDirectory::create(folder, dump_config(config));
  const auto shape = shape_of(config);
  learner::Checkpoint checkpoint;
  checkpoint.algorithm.algorithm = "impala";
  checkpoint.algorithm.vectors["parameters"] =
      model::random_parameters(shape, Seed{static_cast<std::uint64_t>(updates)}).values;
  for (const auto& [name, value] : values) checkpoint.algorithm.reals["values." + name] = value;
  checkpoint.counters["updates"] = updates;
  REQUIRE(
      learner::CheckpointFolder(run.checkpoints(), 3).save(checkpoint, model::make_layout(shape)));
}

// The same weights as a file.
inline void write_random_policy(const std::filesystem::path& file, const apps::TrainConfig& config,
                                std::int64_t updates) {
  learner::PolicyExport policy;
  const auto task = config.env.make();
  policy.shape = model::make_shape(config.network, task->spec());
  policy.parameters =
      model::random_parameters(policy.shape, Seed{static_cast<std::uint64_t>(updates)});
  policy.parameters.version = PolicyVersion{static_cast<std::uint64_t>(updates)};
  policy.graphs = task->spec().graphs;
  policy.globals = task->spec().observation.globals;
  policy.notes = {{"config", dump_config(config)}, {learner::kValueUnit, learner::kRewards}};
  REQUIRE(learner::export_safetensors(policy, file));
}

}  // namespace pacml::testing
