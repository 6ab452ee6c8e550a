#include <algorithm>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/judged_training.h"
#include "tests/support/pacml_process.h"

// Scheduling on GPU clusters over real processes.

namespace pacml::testing {
namespace {

// Jobs of one GPU whose times differ much, on four servers of two schedulers: who lets the short
// ones go first is far better than who does not. Little is left to chance, since the most probable
// of many places that are nearly alike may be none of them.
const std::string kUnlikeJobs = R"(
  cluster: {share: 1}
  jobs: {jobs: 100, load: 6, largest_gpus: 1, median_s: 1500, deviation: 2, least_s: 60, most_s: 30000}
)";

// Job graphs on a torus with so much to do that nobody should get all of it.
const std::string kGraphs = R"(
  cluster: {share: 1, topology: {dims: [2, 4], gpus_per_group: 1, sockets: 1, gpu_types: [{type: v100, servers: 8}]}}
  speeds_from: graphs
  graphs: {models: [alexnet, resnet18], largest: 8}
  jobs: {jobs: 60, load: 1, largest_gpus: 2}
  sizes: 5
)";

std::string config_of(const std::string& task, const std::string& workload) {
  return "env:\n  task: " + task + workload + R"(network:
  head: candidates
  candidates: {hidden_width: 16, width: 16, state_width: 16}
  encoders: [{slot: servers, kind: deep_set, width: 4, blocks: 1}]
actor: {environments: 8, unroll_length: 16}
impala: {batch_decisions: 256, discount: 0.9, learning_rate: {kind: constant, start: 3.0e-3}, entropy_cost: {start: 1.0e-3}}
ppo: {batch_decisions: 1024, minibatch_decisions: 256, discount: 0.9, learning_rate: {kind: constant, start: 3.0e-3}, entropy_cost: {start: 1.0e-3}}
learner: {metrics_seconds: 0.5, evaluate_seconds: 1, evaluate_episodes: 10}
supervision: {silence_seconds: 0}
seed: 3
actors: 1
)";
}

TEST_CASE("schedulers learn over real processes, and are compared and exported",
          "[integration][gpu_cluster]") {
  const std::string algorithm = GENERATE("impala", "ppo");
  INFO(algorithm);
  const JudgedTraining training(config_of("cluster_scheduling", kUnlikeJobs), algorithm, 100000,
                                "load_balancing,srtf_best_fit");
  CHECK(training.objective() == "average_jct_s");
  // Rules that let short jobs go first are a third better.
  CHECK(training.mean(0) < 0.9 * training.mean(1));
  const Outcome exported = pacml({"export", training.run, "--format", "safetensors", "--out",
                                  (training.folder / "policy.safetensors").string()});
  INFO(exported.err);
  CHECK(exported.code == 0);
}

// Servers as a set, offers that vary in number, and two schedulers through the real network.
TEST_CASE("schedulers that begin at a rule do what it does", "[integration][gpu_cluster]") {
  const JudgedTraining training(
      config_of("cluster_scheduling", kUnlikeJobs) +
          "warm_start: {policy: imitate, teacher: srtf_best_fit, decisions: 5000, passes: 20}\n",
      "ppo", 1000, "load_balancing,srtf_best_fit");
  CHECK(training.mean(0) < 1.1 * training.mean(2));
  CHECK(training.mean(0) < 0.9 * training.mean(1));
}

TEST_CASE("who learns which job is next lets the short ones go first",
          "[integration][gpu_cluster]") {
  const JudgedTraining training(config_of("job_scheduling", kUnlikeJobs), "ppo", 100000,
                                "fifo_backfill,srtf");
  CHECK(training.objective() == "average_jct_s");
  CHECK(training.mean(0) < 0.9 * training.mean(1));
}

TEST_CASE("who learns how many workers job graphs get does not hand out all of them",
          "[integration][gpu_cluster]") {
  const JudgedTraining training(config_of("job_placing", kGraphs), "ppo", 200000,
                                "max_parallel,random");
  CHECK(training.objective() == "average_jct_s");
  CHECK(training.mean(0) < 0.9 * std::min(training.mean(1), training.mean(2)));
}

}  // namespace
}  // namespace pacml::testing
