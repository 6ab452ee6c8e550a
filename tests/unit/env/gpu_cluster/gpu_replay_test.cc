#include "env/gpu_cluster/gpu_replay.h"

#include <memory>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::env {
namespace {

using Kind = GpuDecision::Kind;

// Two schedulers with a server of one GPU each; the first one's job takes 5 s. When it ends.
double finish_of(const std::vector<GpuDecision>& decisions, bool preempts = false) {
  GpuClusterConfig config;
  config.topology = {.gpus_per_group = 1, .sockets = 1, .servers = 2, .gpu_types = {{"g", 2}}};
  config.partitions = 2;
  GpuSpeedTables tables;
  tables.types["t"].speeds["g"][1] = {1, 1};
  const auto model = std::make_shared<const GpuClusterModel>(config, tables);
  const std::vector<GpuJobSpec> jobs = {{.submit_s = 0, .type = "t", .steps = 5}};
  GpuClusterSimulator simulator(model, std::make_shared<const GpuJobList>(*model, jobs),
                                QueueOrder::kFifo);
  run_decisions(simulator, decisions, {}, nullptr, preempts);
  return simulator.state().progress(0).finish;
}

TEST_CASE("GPUs of a scheduler that the job does not wait for are refused", "[unit][gpu_cluster]") {
  CHECK(finish_of({{.time_s = 0, .gpus = {0}}}) == 5);
  const std::vector<GpuDecision> across = {{.time_s = 0, .gpus = {1}}};
  CHECK_THROWS_WITH(finish_of(across),
                    "decision 0, on job 0: GPU 1 is scheduler 1's, and it waits for scheduler 0");
  // One decides for all where jobs are pre-empted, or could have been.
  CHECK(finish_of(across, true) == 5);
  CHECK(finish_of({{.time_s = 0, .gpus = {1}},
                   {.time_s = 2, .kind = Kind::kPreempted},
                   {.time_s = 3, .gpus = {0}}}) == 6);
}

TEST_CASE("who was handed a job on may place it", "[unit][gpu_cluster]") {
  // It waits, goes to the other one, or to the GPU here.
  const GpuDecision forward = {.time_s = 0, .kind = Kind::kActed, .action = 1, .num_actions = 3};
  CHECK(finish_of({forward, {.time_s = 0, .gpus = {1}}}) == 5);
  CHECK_THROWS_WITH(finish_of({forward, {.time_s = 0, .gpus = {0}}}),
                    "decision 1, on job 0: GPU 0 is scheduler 0's, and it waits for scheduler 1");
}

}  // namespace
}  // namespace pacml::env
