#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "env/gpu_cluster/job_trace.h"
#include "env/tasks/cluster_scheduling/baselines.h"
#include "env/tasks/cluster_scheduling/task.h"
#include "env/tasks/gpu_scheduling/environment.h"
#include "env/tasks/gpu_scheduling/observation.h"
#include "env/tasks/gpu_scheduling/rule_agent.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"
#include "tests/support/two_servers.h"

namespace pacml::env {
namespace {

using Kind = Offer::Kind;
using testing::two_servers;

struct Scene {
  explicit Scene(const ClusterSchedulingConfig& config)
      : task(std::make_shared<const ClusterSchedulingTask>(config)), env(task) {}

  // Jobs of one type that take so many seconds alone, by the time of their arrival; ids are in
  // turn the first and the second scheduler's.
  struct Job {
    double submit_s;
    int gpus;
    double seconds;
  };
  void begin(const std::vector<Job>& jobs, const std::string& type = "image_large") {
    auto specs = std::make_shared<std::vector<GpuJobSpec>>();
    for (const Job& job : jobs) {
      const JobSpeeds& speeds = task->model()->speeds();
      const auto shape = static_cast<std::size_t>(speeds.shape(type, job.gpus));
      specs->push_back({.submit_s = job.submit_s,
                        .type = type,
                        .gpus = job.gpus,
                        .steps = job.seconds * speeds.shapes()[shape].best_rate});
    }
    env.reset(GpuJobSpecs(specs));
  }
  int find(Kind kind, std::int32_t job) const {
    for (std::size_t i = 0; i < env.offers().size(); ++i) {
      if (env.offers()[i].kind == kind && (kind == Kind::kPass || env.offers()[i].job == job)) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }
  StepResult take(Kind kind, std::int32_t job = -1) {
    const int action = find(kind, job);
    REQUIRE(action >= 0);
    return env.step(action);
  }

  std::shared_ptr<const ClusterSchedulingTask> task;
  GpuSchedulingEnv env;
};

TEST_CASE("a scheduler must begin where all of its GPUs are idle, and may wait else",
          "[unit][env]") {
  Scene scene(two_servers());
  scene.begin({{0, 2, 100}, {10, 1, 50}, {20, 1, 30}, {20, 1, 30}});
  CHECK(scene.env.agent() == 0);
  CHECK(scene.env.offers().size() == 1);
  CHECK(scene.find(Kind::kOneServer, 0) == 0);
  static_cast<void>(scene.take(Kind::kOneServer, 0));
  CHECK(scene.env.state().now() == 10);
  CHECK(scene.env.agent() == 1);
  // The other one's job does not count.
  CHECK(scene.find(Kind::kPass, -1) == -1);
  CHECK(scene.env.describe(0) == "job 1 (image_large, 1 GPUs) on server 1");
  static_cast<void>(scene.take(Kind::kOneServer, 1));
  REQUIRE(scene.env.agent() == 0);
  CHECK(scene.find(Kind::kPass, -1) == 0);
  CHECK(scene.env.describe(0) == "wait");
  static_cast<void>(scene.take(Kind::kPass));
  REQUIRE(scene.env.agent() == 1);
  CHECK(scene.find(Kind::kPass, -1) == 0);
  CHECK(scene.find(Kind::kOneServer, 3) == 1);
}

TEST_CASE("who waits is asked again when there is something new", "[unit][env]") {
  Scene scene(two_servers());
  scene.begin({{0, 2, 100}, {10, 1, 200}, {20, 1, 30}, {20, 1, 30}, {30, 1, 30}});
  static_cast<void>(scene.take(Kind::kOneServer, 0));
  static_cast<void>(scene.take(Kind::kOneServer, 1));
  for (const int agent : {0, 1}) {
    REQUIRE(scene.env.state().now() == 20);
    REQUIRE(scene.env.agent() == agent);
    static_cast<void>(scene.take(Kind::kPass));
  }
  // The arrival at 30 s is the first scheduler's, whose server is taken. It may forward.
  REQUIRE(scene.env.state().now() == 30);
  REQUIRE(scene.env.agent() == 0);
  static_cast<void>(scene.take(Kind::kPass));
  // The second one still has what it passed on before: time goes on until the first job is done.
  CHECK(scene.env.state().now() == Approx(100));
  CHECK(scene.env.agent() == 0);
}

TEST_CASE("a job may wait for however many rounds it takes", "[unit][env]") {
  ClusterSchedulingConfig config = two_servers();
  config.cluster.share = 1;
  config.cluster.round_s = 1e-3;
  Scene scene(config);
  // Job 2 waits for job 0, for 15 million rounds.
  scene.begin({{0, 2, 15'000}, {0, 2, 40'000}, {1, 2, 100}});
  static_cast<void>(scene.take(Kind::kOneServer, 0));
  static_cast<void>(scene.take(Kind::kOneServer, 1));
  REQUIRE(scene.env.agent() == 0);
  const double ended = scene.env.state().progress(0).finish;
  CHECK(ended == Approx(15'000));
  CHECK(scene.env.state().now() == std::max(ended, std::ceil(ended / 1e-3) * 1e-3));
  CHECK(scene.take(Kind::kOneServer, 2).terminated);
  CHECK(scene.env.state().progress(2).finish == Approx(15'100));
}

TEST_CASE("who hands a job to an earlier scheduler has it decided a round later", "[unit][env]") {
  ClusterSchedulingConfig config = two_servers();
  config.cluster.share = 1;
  config.cluster.round_s = 60;
  Scene scene(config);
  scene.begin({{0, 1, 1000}, {0, 2, 1000}, {10, 1, 500}, {20, 1, 100}});
  static_cast<void>(scene.take(Kind::kOneServer, 0));
  static_cast<void>(scene.take(Kind::kOneServer, 1));
  REQUIRE(scene.env.state().now() == 60);
  REQUIRE(scene.env.agent() == 0);
  static_cast<void>(scene.take(Kind::kPass));
  REQUIRE(scene.env.agent() == 1);
  static_cast<void>(scene.take(Kind::kForward, 3));
  // Nothing has happened since, but that it has come.
  CHECK(scene.env.state().now() == 120);
  CHECK(scene.env.agent() == 0);
  CHECK(scene.find(Kind::kOneServer, 3) >= 0);
}

TEST_CASE("a job goes to a scheduler that has room, once in an instant", "[unit][env]") {
  ClusterSchedulingConfig config = two_servers();
  config.cluster.share = 1;
  Scene scene(config);
  scene.begin({{0, 2, 100}, {10, 1, 50}, {20, 1, 30}});
  static_cast<void>(scene.take(Kind::kOneServer, 0));
  static_cast<void>(scene.take(Kind::kOneServer, 1));
  REQUIRE(scene.env.state().now() == 20);
  CHECK(scene.find(Kind::kOneServer, 2) == -1);
  CHECK(scene.env.describe(scene.find(Kind::kForward, 2)) ==
        "job 2 (image_large, 1 GPUs) to scheduler 1");
  static_cast<void>(scene.take(Kind::kForward, 2));
  // At the same time it is the second scheduler's.
  CHECK(scene.env.state().now() == 20);
  CHECK(scene.env.agent() == 1);
  CHECK(scene.env.offers()[1].job == 2);
  static_cast<void>(scene.take(Kind::kOneServer, 2));
  CHECK(scene.env.spec().metric(scene.env.summary(), "forwards") == Approx(1.0 / 3));
}

TEST_CASE("who has handed a job on is asked about those that are left", "[unit][env]") {
  ClusterSchedulingConfig config = two_servers();
  config.cluster.share = 1;
  config.cluster.topology.gpu_types = {{"p100", 1}, {"v100", 1}};
  Scene scene(config);
  // The first scheduler has one idle GPU, and passes on job 2, which wants two.
  scene.begin({{0, 1, 500}, {10, 2, 500}, {20, 2, 30}, {20, 1, 30}, {40, 1, 30}});
  static_cast<void>(scene.take(Kind::kOneServer, 0));
  static_cast<void>(scene.take(Kind::kOneServer, 1));
  REQUIRE(scene.env.state().now() == 20);
  REQUIRE(scene.env.agent() == 0);
  static_cast<void>(scene.take(Kind::kPass));
  REQUIRE(scene.env.agent() == 1);
  static_cast<void>(scene.take(Kind::kPass));
  REQUIRE(scene.env.state().now() == 40);
  REQUIRE(scene.env.agent() == 0);
  // As many wait as before when that one has gone, and job 4 has not been passed on.
  static_cast<void>(scene.take(Kind::kForward, 2));
  CHECK(scene.env.state().now() == 40);
  REQUIRE(scene.env.agent() == 0);
  CHECK(scene.find(Kind::kOneServer, 4) >= 0);
}

TEST_CASE("a job is handed on once, and to room that nobody else was handed", "[unit][env]") {
  ClusterSchedulingConfig config = two_servers();
  config.cluster.share = 1;
  Scene scene(config);
  scene.begin({{0, 2, 100}, {10, 1, 50}, {20, 1, 30}, {20, 1, 60}, {20, 1, 40}});
  static_cast<void>(scene.take(Kind::kOneServer, 0));
  static_cast<void>(scene.take(Kind::kOneServer, 1));
  REQUIRE(scene.env.state().now() == 20);
  CHECK(scene.find(Kind::kForward, 2) >= 0);
  CHECK(scene.find(Kind::kForward, 4) >= 0);
  static_cast<void>(scene.take(Kind::kForward, 4));
  // One GPU is idle there, and job 4 is for it: nothing is left to decide here.
  REQUIRE(scene.env.agent() == 1);
  CHECK(scene.find(Kind::kForward, 4) == -1);
  CHECK(scene.env.offers().size() == 3);
  static_cast<void>(scene.take(Kind::kOneServer, 3));
  // Job 1 is done, then job 3 runs alone on one GPU.
  REQUIRE(scene.env.state().now() == Approx(60));
  REQUIRE(scene.env.agent() == 1);
  static_cast<void>(scene.take(Kind::kOneServer, 4));
  CHECK(scene.env.spec().metric(scene.env.summary(), "forwards") == Approx(1.0 / 5));
}

TEST_CASE("who hands a job on pays for it, and who starts it is paid", "[unit][env]") {
  for (const auto reward : {SchedulingReward::kActiveTime, SchedulingReward::kDelay}) {
    for (const Handover handover : {Handover::kFree, Handover::kPriced}) {
      CAPTURE(static_cast<int>(reward), static_cast<int>(handover));
      ClusterSchedulingConfig config = two_servers();
      config.cluster.share = 1;
      config.reward = reward;
      config.handover = handover;
      Scene scene(config);
      // Job 3 waits with the second scheduler when job 2 comes to it.
      scene.begin({{0, 2, 100}, {10, 1, 50}, {20, 1, 30}, {20, 2, 60}});
      const double unit = scene.task->scale().mean_job_s;
      // All run as fast as alone, which counts or does not.
      const double runs = reward == SchedulingReward::kActiveTime ? 1 : 0;
      static_cast<void>(scene.take(Kind::kOneServer, 0));
      static_cast<void>(scene.take(Kind::kOneServer, 1));
      // What it takes alone, and by which it would delay a job on one of two GPUs.
      const double price = handover == Handover::kPriced ? (30 * runs + 15) / unit : 0;
      CHECK(scene.take(Kind::kForward, 2).reward == Approx(-price));
      CHECK(scene.env.other_rewards().empty());
      // From 20 s to 60 s: the first has job 0, the second job 1, job 2 until 50 s, and job 3.
      CHECK(scene.take(Kind::kOneServer, 2).reward ==
            Approx(price - ((40 + 30) * runs + 40) / unit));
      REQUIRE(scene.env.state().now() == Approx(60));
      const StepResult last = scene.take(Kind::kOneServer, 3);
      CHECK(last.terminated);
      CHECK(last.reward == Approx(-60 * runs / unit));
      CHECK(scene.env.summary().episode_return ==
            Approx(-((100 + 50 + 30 + 60) * runs + 40) / unit));
    }
  }
}

TEST_CASE("a job may go to faster GPUs, though there are idle ones here", "[unit][env]") {
  ClusterSchedulingConfig config = two_servers();
  config.cluster.topology.gpu_types = {{"v100", 1}, {"p100", 1}};
  for (const bool wait : {true, false}) {
    CAPTURE(wait);
    config.offers.wait_for_faster = wait;
    Scene scene(config);
    // Both types have an idle GPU when job 1 comes to the scheduler of the P100s.
    scene.begin({{0, 1, 100}, {10, 1, 50}, {20, 1, 50}, {30, 1, 50}, {40, 1, 50}});
    CHECK(scene.find(Kind::kForward, 0) == -1);
    static_cast<void>(scene.take(Kind::kOneServer, 0));
    REQUIRE(scene.env.agent() == 1);
    CHECK(scene.find(Kind::kOneServer, 1) >= 0);
    const int forward = scene.find(Kind::kForward, 1);
    REQUIRE(forward >= 0);
    CHECK(scene.env.offers()[static_cast<std::size_t>(forward)].to == 0);
    // The other way there is nothing to be had.
    static_cast<void>(scene.take(Kind::kOneServer, 1));
    REQUIRE(scene.env.agent() == 0);
    CHECK(scene.find(Kind::kForward, 2) == -1);
    static_cast<void>(scene.take(Kind::kOneServer, 2));
    // Faster, and taken: it may wait there, if at all.
    REQUIRE(scene.env.state().now() == 30);
    REQUIRE(scene.env.agent() == 1);
    CHECK((scene.find(Kind::kForward, 3) >= 0) == wait);
    if (!wait) continue;
    static_cast<void>(scene.take(Kind::kForward, 3));
    CHECK(scene.env.state().gpus_handed(0) == 0);
    // The line is another one's now, which may not hand it on again.
    while (scene.env.agent() == 1) static_cast<void>(scene.take(Kind::kPass));
    CHECK(scene.env.state().waiting(0).size() >= 1);
    CHECK(scene.find(Kind::kForward, 3) == -1);
  }
}

TEST_CASE("without messages others look like nothing at all", "[unit][env]") {
  ClusterSchedulingConfig config = two_servers();
  config.cluster.share = 1;
  for (const bool messages : {true, false}) {
    INFO(messages);
    config.messages = messages;
    Scene scene(config);
    // The first scheduler's server is taken by job 0, the second's has room beside job 1.
    scene.begin({{0, 2, 100}, {10, 1, 50}, {20, 1, 30}, {20, 1, 30}});
    static_cast<void>(scene.take(Kind::kOneServer, 0));
    static_cast<void>(scene.take(Kind::kOneServer, 1));
    REQUIRE(scene.env.agent() == 0);
    ShownScheduling shown;
    shown.look_at(scene.env.state(), scene.task->nodes(0), scene.task->scale(), scene.env.offers(),
                  0);
    const auto others = scene.task->nodes(0).of_partition(1) * kClusterDynamicWidth;
    CHECK(shown.nodes[others] == (messages ? 0.5F : 0.0F));      // idle there
    CHECK(shown.nodes[others + 2] == (messages ? 0.5F : 0.0F));  // a job waits, of two GPUs
    CHECK(shown.nodes[1] == 1.5F);                               // what is wanted here
    const std::size_t width = offer_features().size();
    const auto forward = static_cast<std::size_t>(scene.find(Kind::kForward, 2)) * width;
    CHECK(shown.offers[forward + width - 3] == (messages ? 0.5F : 0.0F));
    // Another is offered what has room, told or not.
    CHECK(scene.find(Kind::kForward, 2) >= 0);
  }
}

TEST_CASE("without interference two jobs on a GPU are as fast as one", "[unit][env]") {
  ClusterSchedulingConfig config = two_servers();
  for (const bool interference : {true, false}) {
    INFO(interference);
    config.interference = interference;
    Scene scene(config);
    scene.begin({{0, 2, 100}, {10, 2, 50}, {20, 1, 30}}, "text_small");
    static_cast<void>(scene.take(Kind::kOneServer, 0));
    static_cast<void>(scene.take(Kind::kOneServer, 1));
    REQUIRE(scene.env.state().now() == 20);
    const int shared = scene.find(Kind::kShared, 2);
    REQUIRE(shared >= 0);
    const Offer& offer = scene.env.offers()[static_cast<std::size_t>(shared)];
    CHECK((offer.others_loss > 0) == interference);
    CHECK((offer.rate < scene.env.state().jobs()[2].best_rate) == interference);
  }
}

TEST_CASE("rewards are the time of jobs in the system, for the scheduler and for all",
          "[unit][env]") {
  for (const double own_share : {0.0, 0.5, 1.0}) {
    ClusterSchedulingConfig config = two_servers();
    config.own_share = own_share;
    config.reward = SchedulingReward::kActiveTime;
    Scene scene(config);
    scene.begin({{0, 2, 100}, {10, 2, 50}});
    const double unit = scene.task->scale().mean_job_s;
    // Ten seconds of the first scheduler's job.
    const StepResult first = scene.take(Kind::kOneServer, 0);
    CHECK(first.reward == Approx(-10 * (own_share + (1 - own_share) / 2) / unit));
    CHECK(first.elapsed == Approx(10 / unit));
    // Fifty of both, and forty more of the first.
    const StepResult second = scene.take(Kind::kOneServer, 1);
    CHECK(second.terminated);
    CHECK(second.elapsed == Approx(90 / unit));
    CHECK(second.reward == Approx(-(50 * own_share + 140 * (1 - own_share) / 2) / unit));
    REQUIRE(scene.env.other_rewards().size() == 1);
    CHECK(scene.env.other_rewards()[0].agent == 0);
    CHECK(scene.env.other_rewards()[0].reward ==
          Approx(-(90 * own_share + 140 * (1 - own_share) / 2) / unit));
    CHECK(scene.env.summary().metrics[0] == Approx(75));
    CHECK(scene.env.summary().metrics[1] == Approx(1));
  }
}

TEST_CASE("a place says what it would come to", "[unit][env]") {
  ClusterSchedulingConfig config = two_servers();
  config.cluster.partitions = 1;
  Scene scene(config);
  // Two jobs of "translation" on a GPU: each would keep it busy for 0.78 of the time, so that each
  // has a share of 1 / 1.56.
  scene.begin({{0, 2, 100}, {0, 2, 100}, {10, 1, 39}}, "translation");
  static_cast<void>(scene.take(Kind::kOneServer, 0));
  static_cast<void>(scene.take(Kind::kOneServer, 1));
  REQUIRE(scene.env.state().now() == 10);
  const auto action = static_cast<std::size_t>(scene.find(Kind::kShared, 2));
  const Offer& offer = scene.env.offers()[action];
  CHECK(offer.to == 0);
  CHECK(offer.own_delay_s == Approx(39 * 0.56));
  CHECK(offer.others_loss == Approx(1 - 1 / 1.56));
  // While it runs, for 39 * 1.56 s.
  CHECK(offer.others_delay_s == Approx(39 * 0.56));
}

TEST_CASE("rules place jobs where none is offered, each place by a number of its own",
          "[unit][env]") {
  ClusterSchedulingConfig config = two_servers();
  config.cluster.partitions = 1;
  Scene scene(config);
  scene.begin({{0, 1, 100}, {0, 1, 100}});
  const std::vector<std::int32_t> second_gpu = {1};
  const std::vector<std::int32_t> last_gpu = {3};
  const auto offered = static_cast<int>(scene.env.offers().size());
  CHECK_FALSE(scene.env.takes(offered));
  const int here = scene.env.action_for(0, second_gpu);
  const int there = scene.env.action_for(0, last_gpu);
  CHECK(here == offered);
  CHECK(there == offered + 1);
  CHECK(scene.env.action_for(0, second_gpu) == here);
  CHECK(scene.env.takes(there));
  CHECK_FALSE(scene.env.takes(offered + 2));
  CHECK(scene.env.describe(here) == "job 0 (image_large, 1 GPUs) on server 0");
  CHECK(scene.env.describe(there) == "job 0 (image_large, 1 GPUs) on server 1");

  const auto imagined = scene.env.clone();
  static_cast<void>(imagined->step(there));
  CHECK(dynamic_cast<const GpuSchedulingEnv&>(*imagined).state().resident(3, 0) == 0);
  static_cast<void>(scene.env.step(here));
  CHECK(scene.env.state().resident(1, 0) == 0);
  CHECK(scene.env.state().is_idle(3));
  CHECK_FALSE(scene.env.takes(static_cast<int>(scene.env.offers().size())));
}

TEST_CASE("what comes is drawn anew, what is there stays", "[unit][env]") {
  GpuSchedulingEnv env(std::make_shared<const ClusterSchedulingTask>(two_servers()));
  env.reset(Seed{3});
  for (int i = 0; i < 20; ++i) static_cast<void>(env.step(0));
  const GpuClusterState before = env.state();
  REQUIRE(env.resample_future(Seed{4}));
  double last_s = 0;
  int changed = 0;
  for (std::int32_t id = 0; id < 160; ++id) {
    const GpuJob& job = env.state().jobs()[id];
    const GpuJob& was = before.jobs()[id];
    CHECK(job.submit_s >= last_s);
    last_s = job.submit_s;
    if (before.progress(id).status != GpuJobStatus::kAhead) {
      CHECK(job.submit_s == was.submit_s);
      CHECK(job.steps == was.steps);
      CHECK(env.state().progress(id).left == before.progress(id).left);
    } else {
      CHECK(job.submit_s >= env.state().now());
      changed += job.steps != was.steps ? 1 : 0;
    }
  }
  CHECK(changed > 10);
}

TEST_CASE("jobs that come at one time may be drawn for a later one", "[unit][env]") {
  // Times such that differences to them are rounded.
  std::string rows;
  for (int i = 0; i < 200; ++i) {
    const int group = i / 4;
    rows += std::to_string(i) + "," + std::to_string(100 * group + 0.1) + ",1,1," +
            std::to_string(300 + 37 * i) + ",,image_small,u,,,\n";
  }
  const testing::TempDir folder;
  const std::string file = (folder / "ties.csv").string();
  std::ofstream(file) << kJobTraceHeader << '\n' << rows;
  ClusterSchedulingConfig config = two_servers();
  config.trace = {.file = file, .until = 1};
  config.jobs.jobs = 60;
  const auto task = std::make_shared<const ClusterSchedulingTask>(config);
  GpuSchedulingEnv env(task);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    env.reset(Seed{seed});
    for (bool is_over = false; !is_over;) {
      const auto future = env.clone();
      REQUIRE(future->resample_future(Seed{seed + 7}));
      for (int i = 0; i < 20; ++i) {
        if (future->step(0).final()) break;
      }
      is_over = env.step(0).final();
    }
  }
}

TEST_CASE("rules for which schedulers have no actions are refused", "[unit][env]") {
  CHECK_THROWS_WITH(make_rule_agent({.order = ScheduleOrder::kAgent}), Catch::StartsWith("order"));
  CHECK_THROWS_WITH(make_rule_agent({.preempt = true}), Catch::StartsWith("preempt"));
}

TEST_CASE("what schedulers cannot be is refused", "[unit][env]") {
  ClusterSchedulingConfig config = two_servers();
  config.jobs.largest_gpus = 4;
  CHECK_THROWS_WITH(ClusterSchedulingTask(config),
                    "env.jobs.largest_gpus: the smallest partition has 2 GPUs");
  config = ClusterSchedulingConfig();
  config.jobs.jobs = 20'000;
  config.jobs.load = 3e-6;
  CHECK_THROWS_WITH(ClusterSchedulingTask(config), Catch::StartsWith("env: jobs.load: 3e-06 can"));
  config.jobs.jobs = 10;
  config.jobs.load = 1e-6;
  CHECK_NOTHROW(ClusterSchedulingTask(config));
  config = two_servers();
  config.own_share = 1.5;
  CHECK_THROWS_WITH(ClusterSchedulingTask(config), Catch::Contains("own_share"));
  config = two_servers();
  config.offers.jobs = 2000;
  CHECK(validate(config.offers).size() == 1);
  config = two_servers();
  config.offers.handovers = -1;
  CHECK(validate(config.offers).size() == 1);
  config = two_servers();
  config.cluster.partitions = 3;
  CHECK_THROWS_WITH(ClusterSchedulingTask(config), Catch::Contains("partitions: 3 of 2 servers"));
  CHECK_THROWS_WITH(make_cluster_scheduling_agent("load_balance"),
                    Catch::Contains("did you mean 'load_balancing'"));
  CHECK_THROWS_AS(make_cluster_scheduling_agent("srtf_least_delay:much"), UserError);
  CHECK_THROWS_AS(make_cluster_scheduling_agent("drf:2"), UserError);
}

}  // namespace
}  // namespace pacml::env
