#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/tasks/cluster_scheduling/task.h"
#include "tests/support/agent_contract.h"
#include "tests/support/catch.h"
#include "tests/support/environment_contract.h"

// The environment contract on the cluster scheduling task, one configuration a line.

namespace pacml::env {
namespace {

using Change = void (*)(ClusterSchedulingConfig&);

ClusterSchedulingConfig base() {
  ClusterSchedulingConfig c;
  c.jobs.jobs = 40;
  return c;
}

const std::vector<std::pair<std::string, Change>> kConfigs = {
    {"two schedulers, whatever happens", [](ClusterSchedulingConfig&) {}},
    {"one scheduler, nothing is shared",
     [](ClusterSchedulingConfig& c) {
       c.cluster.partitions = 1;
       c.cluster.share = 1;
     }},
    {"four schedulers, rounds, jobs come to the least loaded",
     [](ClusterSchedulingConfig& c) {
       c.cluster.partitions = 4;
       c.cluster.round_s = 60;
       c.cluster.route = JobRoute::kLeastLoaded;
       c.offers.forwards = 3;
     }},
    {"pods of two types of GPUs, jobs over several servers, uneven partitions",
     [](ClusterSchedulingConfig& c) {
       c.cluster = named_gpu_cluster("fat512").cluster;
       c.cluster.topology.servers = 13;
       c.cluster.topology.servers_per_rack = 2;
       c.cluster.topology.gpu_types = {{"v100", 8}, {"p100", 5}};
       c.cluster.partitions = 3;
       c.jobs = {.jobs = 60, .load = 3, .largest_gpus = 32};
     }},
    {"a torus, few offers, progress is paid", [](ClusterSchedulingConfig& c) {
       c.cluster.topology.dims = {2, 3};
       c.cluster.topology.gpu_types = {{"v100", 6}};
       c.cluster.partitions = 2;
       c.offers.jobs = 1;
       c.offers.places = 1;
       c.offers.pass = false;
       c.reward = SchedulingReward::kProgress;
       c.own_share = 1;
     }}};

TEST_CASE("cluster scheduling keeps the environment contract", "[conformance][env]") {
  for (const auto& [name, change] : kConfigs) {
    INFO(name);
    ClusterSchedulingConfig config = base();
    change(config);
    const auto task = std::make_shared<const ClusterSchedulingTask>(config);
    for (const std::uint64_t seed : {21U, 210U}) {
      CAPTURE(seed);
      testing::check_environment_contract(task->make_factory(), Seed{seed});
    }
  }
}

TEST_CASE("the rules of cluster scheduling keep the agent contract", "[conformance][env]") {
  for (const auto& [name, change] : kConfigs) {
    INFO(name);
    ClusterSchedulingConfig config = base();
    change(config);
    const auto task = std::make_shared<const ClusterSchedulingTask>(config);
    for (const std::string& rule : compared_agents(*task)) {
      INFO(rule);
      testing::check_agent_contract(task->make_factory(), *task->make_agent(rule), Seed{4});
    }
  }
}

}  // namespace
}  // namespace pacml::env
