#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/tasks/job_scheduling/task.h"
#include "tests/support/agent_contract.h"
#include "tests/support/catch.h"
#include "tests/support/environment_contract.h"

// The environment contract on the job scheduling task, one configuration a line.

namespace pacml::env {
namespace {

using Change = void (*)(JobSchedulingConfig&);

const std::vector<std::pair<std::string, Change>> kConfigs = {
    {"whatever happens", [](JobSchedulingConfig&) {}},
    {"rounds, a short window of the shortest, nobody passes",
     [](JobSchedulingConfig& c) {
       c.cluster.round_s = 60;
       c.line = QueueOrder::kSrtf;
       c.window = 3;
       c.pass = false;
     }},
    {"a torus, jobs over several servers that share, progress is paid", [](JobSchedulingConfig& c) {
       c.cluster.topology.dims = {2, 3};
       c.cluster.topology.gpu_types = {{"v100", 6}};
       c.jobs.largest_gpus = 16;
       c.place = PlacementRule::kLeastInterference;
       c.candidates = {.share = SharingRule::kAlways};
       c.reward = SchedulingReward::kProgress;
     }}};

TEST_CASE("job scheduling and its baselines keep their contracts", "[conformance][env]") {
  for (const auto& [name, change] : kConfigs) {
    INFO(name);
    JobSchedulingConfig config;
    config.jobs.jobs = 40;
    change(config);
    const auto task = std::make_shared<const JobSchedulingTask>(config);
    for (const std::uint64_t seed : {21U, 210U}) {
      CAPTURE(seed);
      testing::check_environment_contract(task->make_factory(), Seed{seed});
    }
    for (const std::string& rule : compared_agents(*task)) {
      INFO(rule);
      testing::check_agent_contract(task->make_factory(), *task->make_agent(rule), Seed{4});
    }
  }
}

}  // namespace
}  // namespace pacml::env
