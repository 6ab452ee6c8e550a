// The scheduling tasks are the simulator: a rule that decides through its actions comes to
// the schedule of the rule alone, and rewards come to the completion times.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "common/rng.h"
#include "env/gpu_cluster/gpu_cluster_simulator.h"
#include "env/tasks/cluster_scheduling/task.h"
#include "env/tasks/gpu_scheduling/environment.h"
#include "env/tasks/gpu_scheduling/rule_agent.h"
#include "env/tasks/job_placing/task.h"
#include "env/tasks/job_scheduling/task.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

void draw_workload(Rng& rng, GpuWorkloadConfig& c) {
  c.cluster = named_gpu_cluster(rng.below(2) == 0 ? "small16" : "fat512").cluster;
  GpuTopologyConfig& t = c.cluster.topology;
  t.servers = static_cast<int>(2 + rng.below(5));
  const int slow = static_cast<int>(rng.below(2));
  t.gpu_types = {{"v100", t.servers - slow}};
  if (slow > 0) t.gpu_types.push_back({"p100", slow});
  if (rng.below(4) == 0) t.dims = {t.servers};
  c.cluster.share = static_cast<int>(1 + rng.below(2));
  c.cluster.partitions = static_cast<int>(1 + rng.below(2));
  c.cluster.route = rng.below(2) == 0 ? JobRoute::kHome : JobRoute::kLeastLoaded;
  if (rng.below(3) == 0) c.cluster.round_s = 60;
  c.jobs = {.jobs = 60, .load = 1.2 + rng.uniform()};
  c.jobs.largest_gpus = 4;
}

ClusterSchedulingConfig draw_config(Rng& rng) {
  ClusterSchedulingConfig c;
  draw_workload(rng, c);
  c.offers.jobs = static_cast<int>(1 + rng.below(6));
  c.offers.places = static_cast<int>(1 + rng.below(6));
  c.reward = SchedulingReward::kActiveTime;
  return c;
}

GpuRulesConfig draw_rules(Rng& rng) {
  GpuRulesConfig r;
  r.order = static_cast<ScheduleOrder>(rng.below(5));
  do {
    r.place = static_cast<PlacementRule>(rng.below(7));
  } while (r.place == PlacementRule::kRandom);  // it draws otherwise in the task
  r.strict = rng.below(2) == 0;
  r.window = rng.below(2) == 0 ? 0 : 8;
  r.candidates.spread = rng.below(2) == 0;
  r.candidates.share = static_cast<SharingRule>(rng.below(3));
  r.candidates.gain = rng.uniform() * 1.6;
  return r;
}

// An agent in the task comes to the schedule of a rule alone.
void check_is_rule(const std::shared_ptr<const GpuSchedulingTask>& task, Agent& agent,
                   const GpuRulesConfig& rules, Seed seed) {
  const auto scheduler = make_rule_scheduler(rules);
  GpuClusterSimulator alone(
      task->model(), std::make_shared<const GpuJobList>(*task->model(), task->draw_jobs(seed)),
      scheduler->queue_order());
  run_schedule(alone, *scheduler);

  GpuSchedulingEnv env(task);
  env.reset(seed);
  agent.reset(seed);
  double rewards = 0;
  bool is_over = false;
  while (!is_over) {
    const StepResult result = env.step(agent.act(env));
    rewards += static_cast<double>(result.reward);
    for (const AgentReward& other : env.other_rewards()) {
      rewards += static_cast<double>(other.reward);
    }
    is_over = result.final();
  }
  double jct_s = 0;
  for (std::size_t i = 0; i < env.state().jobs().size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    REQUIRE(env.state().progress(id).start == alone.state().progress(id).start);
    REQUIRE(env.state().progress(id).finish == alone.state().progress(id).finish);
    jct_s += env.state().progress(id).finish - env.state().jobs()[id].submit_s;
  }
  // Rewards are of 24 bits.
  REQUIRE(rewards == Approx(-jct_s / task->scale().mean_job_s).epsilon(1e-4));
  REQUIRE(env.summary().metrics[0] == Approx(jct_s / 60));
}

TEST_CASE("a rule through the actions of the task is the rule alone", "[property][gpu_cluster]") {
  Rng rng(Seed{31});
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    const ClusterSchedulingConfig config = draw_config(rng);
    const GpuRulesConfig rules = draw_rules(rng);
    CAPTURE(config.cluster.partitions, config.cluster.round_s, config.cluster.share);
    CAPTURE(int(rules.order), int(rules.place), rules.strict, rules.window, rules.candidates.spread,
            int(rules.candidates.share), rules.candidates.gain);
    const Seed seed{rng.next()};
    const auto task = std::make_shared<const ClusterSchedulingTask>(config);
    check_is_rule(task, *make_rule_agent(rules), rules, seed);
  }
}

// Of the tasks of one scheduler whose places are given by a rule.
template <class Config>
Config draw_one_scheduler(Rng& rng) {
  Config c;
  draw_workload(rng, c);
  c.cluster.partitions = 1;
  c.line = static_cast<QueueOrder>(rng.below(3));
  do {
    c.place = static_cast<PlacementRule>(rng.below(7));
  } while (c.place == PlacementRule::kRandom);
  c.candidates = draw_rules(rng).candidates;
  return c;
}

// The rule's order that a line is in.
ScheduleOrder order_of(QueueOrder line) {
  return std::array{ScheduleOrder::kFifo, ScheduleOrder::kSrtf,
                    ScheduleOrder::kSrsf}[static_cast<std::size_t>(line)];
}

JobSchedulingConfig draw_job_config(Rng& rng) {
  auto c = draw_one_scheduler<JobSchedulingConfig>(rng);
  c.window = static_cast<int>(1 + rng.below(20));
  return c;
}

TEST_CASE("orders of jobs through the actions of the task are the rules alone",
          "[property][gpu_cluster]") {
  struct Order {
    const char* name;
    ScheduleOrder order;
    bool strict;
  };
  Rng rng(Seed{33});
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const JobSchedulingConfig config = draw_job_config(rng);
    CAPTURE(int(config.line), int(config.place), config.window, config.cluster.round_s);
    const auto task = std::make_shared<const JobSchedulingTask>(config);
    for (const auto& [name, order, strict] :
         {Order{"fifo", ScheduleOrder::kFifo, true},
          Order{"fifo_backfill", ScheduleOrder::kFifo, false},
          Order{"drf", ScheduleOrder::kDrf, false}, Order{"srtf", ScheduleOrder::kSrtf, false},
          Order{"srsf", ScheduleOrder::kSrsf, false}}) {
      INFO(name);
      check_is_rule(task, *task->make_agent(name),
                    {.order = order,
                     .place = config.place,
                     .strict = strict,
                     .candidates = config.candidates},
                    Seed{rng.next()});
    }
  }
}

// Where the line is in a rule's order, the first job that can start is its choice: what is offered
// is what the rule would do.
TEST_CASE("who always starts the first job in line is the rule of that order",
          "[property][gpu_cluster]") {
  class First final : public Agent {
   public:
    void reset(Seed /*seed*/) override {}
    [[nodiscard]] int act(const Environment& /*environment*/) override { return 0; }
  };
  Rng rng(Seed{34});
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    JobSchedulingConfig config = draw_job_config(rng);
    config.pass = false;
    CAPTURE(int(config.line), int(config.place), config.window, config.cluster.round_s);
    const auto task = std::make_shared<const JobSchedulingTask>(config);
    First first;
    check_is_rule(task, first,
                  {.order = order_of(config.line),
                   .place = config.place,
                   .strict = false,
                   .candidates = config.candidates},
                  Seed{rng.next()});
  }
}

// Random play to the end, where always_first is passing as long as that is offered.
void play_to_end(GpuSchedulingEnv& env, Rng& rng) {
  env.reset(Seed{rng.next()});
  StepResult result;
  const bool always_first = rng.below(3) == 0;
  while (!result.final()) {
    REQUIRE(env.offers().size() >= 1);
    REQUIRE(env.offers().size() <= env.spec().observation.candidates.most);
    result = env.step(always_first ? 0 : static_cast<int>(rng.below(env.offers().size())));
    REQUIRE(env.summary().decisions < 100'000);
  }
  for (std::int32_t id = 0; id < 60; ++id) {
    REQUIRE(env.state().progress(id).status == GpuJobStatus::kFinished);
  }
}

TEST_CASE("whatever schedulers do, every job is done in the end", "[property][gpu_cluster]") {
  Rng rng(Seed{32});
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    ClusterSchedulingConfig config = draw_config(rng);
    config.offers = {.jobs = static_cast<int>(1 + rng.below(3)),
                     .places = static_cast<int>(1 + rng.below(3)),
                     .forwards = static_cast<int>(rng.below(2)),
                     .handovers = static_cast<int>(rng.below(3)),
                     .wait_for_faster = rng.below(2) == 0,
                     .pass = rng.below(4) != 0};
    GpuSchedulingEnv env(std::make_shared<const ClusterSchedulingTask>(config));
    play_to_end(env, rng);
  }
}

// What schedulers pay each other adds up to nothing.
TEST_CASE("rewards add up to the completion times, or to what they are longer than alone",
          "[property][gpu_cluster]") {
  Rng rng(Seed{38});
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    ClusterSchedulingConfig config = draw_config(rng);
    config.offers.forwards = 1;
    config.offers.handovers = static_cast<int>(rng.below(3));
    config.reward = rng.below(2) == 0 ? SchedulingReward::kActiveTime : SchedulingReward::kDelay;
    config.own_share = 0.5 * static_cast<double>(rng.below(3));
    const auto task = std::make_shared<const ClusterSchedulingTask>(config);
    GpuSchedulingEnv env(task);
    play_to_end(env, rng);
    double seconds = 0;
    for (std::int32_t id = 0; id < 60; ++id) {
      const GpuJob& job = env.state().jobs()[id];
      seconds += env.state().progress(id).finish - job.submit_s;
      if (config.reward == SchedulingReward::kDelay) seconds -= job.steps / job.best_rate;
    }
    // Rewards are floats.
    CHECK(env.summary().episode_return ==
          Approx(-seconds / task->scale().mean_job_s).epsilon(1e-4).margin(1e-3));
  }
}

TEST_CASE("whichever jobs are next, every job is done in the end", "[property][gpu_cluster]") {
  Rng rng(Seed{35});
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    JobSchedulingConfig config = draw_job_config(rng);
    config.pass = rng.below(4) != 0;
    GpuSchedulingEnv env(std::make_shared<const JobSchedulingTask>(config));
    play_to_end(env, rng);
  }
}

// That other sizes were tried for a job before leaves no trace.
TEST_CASE("who gives each job in line what it asks for is the rule of that order",
          "[property][gpu_cluster]") {
  Rng rng(Seed{36});
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const auto config = draw_one_scheduler<JobPlacingConfig>(rng);
    CAPTURE(int(config.line), int(config.place), config.cluster.round_s,
            int(config.candidates.share), config.candidates.spread);
    const auto task = std::make_shared<const JobPlacingTask>(config);
    check_is_rule(task, *task->make_agent("as_asked"),
                  {.order = order_of(config.line),
                   .place = config.place,
                   .strict = true,
                   .candidates = config.candidates},
                  Seed{rng.next()});
  }
}

TEST_CASE("whatever number of GPUs jobs get, every job is done in the end",
          "[property][gpu_cluster]") {
  Rng rng(Seed{37});
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    auto config = draw_one_scheduler<JobPlacingConfig>(rng);
    config.window = static_cast<int>(1 + rng.below(4));
    config.sizes = static_cast<int>(1 + rng.below(5));
    config.pass = rng.below(4) != 0;
    GpuSchedulingEnv env(std::make_shared<const JobPlacingTask>(config));
    play_to_end(env, rng);
  }
}

}  // namespace
}  // namespace pacml::env
