#include "env/tasks/job_placing/task.h"
#include "tests/support/catch.h"
#include "tests/support/task_contract.h"

// The environment contract on the job placing task, one configuration a line.

namespace pacml::env {
namespace {

const testing::ConfigChanges<JobPlacingConfig> kConfigs = {
    {"whatever happens", [](JobPlacingConfig&) {}},
    {"a torus of workers, nobody passes",
     [](JobPlacingConfig& c) {
       c.cluster.topology.dims = {2, 3};
       c.cluster.topology.gpu_types = {{"v100", 6}};
       c.jobs.largest_gpus = 16;
       c.pass = false;
     }},
    {"speeds of job graphs",
     [](JobPlacingConfig& c) {
       c.speeds_from = SpeedSource::kGraphs;
       c.graphs.models = {"alexnet", "resnet18"};
       c.graphs.largest = 4;
     }},
    {"rounds, the three shortest, few sizes, shared GPUs, progress is paid",
     [](JobPlacingConfig& c) {
       c.cluster.round_s = 60;
       c.line = QueueOrder::kSrsf;
       c.window = 3;
       c.sizes = 2;
       c.place = PlacementRule::kLeastInterference;
       c.candidates = {.share = SharingRule::kAlways};
       c.reward = SchedulingReward::kProgress;
     }}};

TEST_CASE("job placing and its baselines keep their contracts", "[conformance][env]") {
  JobPlacingConfig config;
  config.jobs.jobs = 40;
  testing::check_task_contracts<JobPlacingTask>(config, kConfigs);
}

}  // namespace
}  // namespace pacml::env
