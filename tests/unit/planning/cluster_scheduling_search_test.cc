#include <memory>
#include <string>
#include <vector>

#include "env/tasks/cluster_scheduling/task.h"
#include "env/tasks/gpu_scheduling/environment.h"
#include "model/initialise.h"
#include "planning/rollout_policy.h"
#include "planning/search_agent.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"

// Searches where several schedulers decide in turn, and a rule decides for all of them at once.

namespace pacml::planning {
namespace {

std::shared_ptr<const env::ClusterSchedulingTask> small_task() {
  env::ClusterSchedulingConfig config;
  config.jobs.jobs = 30;
  return std::make_shared<const env::ClusterSchedulingTask>(config);
}

double play(env::GpuSchedulingEnv& env, env::Agent& agent, Seed seed) {
  env.reset(seed);
  agent.reset(seed);
  while (!env.step(agent.act(env)).final()) {
  }
  return env.summary().metrics.front();
}

TEST_CASE("a search imagines schedulers by each of the rules", "[planning]") {
  const auto task = small_task();
  env::GpuSchedulingEnv env(task);
  for (const std::string& rule : env::compared_agents(*task)) {
    INFO(rule);
    SearchAgent agent({.futures = 3, .horizon = 6}, make_rule_policy(task->make_agent(rule)));
    const double average = play(env, agent, Seed{2});
    CHECK(average > 0);
    CHECK(play(env, agent, Seed{2}) == average);
  }
}

TEST_CASE("a search imagines schedulers by a network", "[planning]") {
  const auto task = small_task();
  model::NetworkConfig config;
  config.head = model::HeadKind::kCandidates;
  config.candidates = {.hidden_width = 8, .width = 8, .state_width = 8};
  config.encoders = {
      {.slot = "servers", .kind = model::EncoderKind::kDeepSet, .width = 4, .blocks = 1}};
  const auto shape = model::make_shape(config, task->spec());
  env::GpuSchedulingEnv env(task);
  SearchAgent agent({.futures = 3, .horizon = 6, .gap = 30},
                    make_network_policy(shape, model::initialise(shape, Seed{5}),
                                        model::ValueHeads::kValue, task->spec().graphs));
  const double average = play(env, agent, Seed{2});
  CHECK(average > 0);
  CHECK(play(env, agent, Seed{2}) == average);
}

}  // namespace
}  // namespace pacml::planning
