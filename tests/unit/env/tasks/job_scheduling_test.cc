#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "env/tasks/gpu_scheduling/environment.h"
#include "env/tasks/job_scheduling/task.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_jobs.h"

namespace pacml::env {
namespace {

// A server of two GPUs, which nobody shares.
JobSchedulingConfig one_server() {
  JobSchedulingConfig c;
  c.cluster.topology = {
      .gpus_per_group = 2, .sockets = 1, .servers = 1, .gpu_types = {{"v100", 1}}};
  c.cluster.host_cap = 1e6;
  c.cluster.share = 1;
  c.jobs.largest_gpus = 2;
  return c;
}

using testing::average_jct;
using testing::jobs_of;

std::vector<std::int32_t> offered_jobs(const GpuSchedulingEnv& env) {
  std::vector<std::int32_t> jobs;
  for (const Offer& offer : env.offers().all()) jobs.push_back(offer.job);
  return jobs;
}

TEST_CASE("the jobs in line that could start are offered, in its order", "[unit][env]") {
  for (const QueueOrder line : {QueueOrder::kFifo, QueueOrder::kSrtf, QueueOrder::kSrsf}) {
    JobSchedulingConfig config = one_server();
    config.line = line;
    const auto task = std::make_shared<const JobSchedulingTask>(config);
    GpuSchedulingEnv env(task);
    // Job 0 holds a GPU while the others come; job 3 wants two.
    env.reset(jobs_of(*task, {{0, 1, 100}, {10, 1, 50}, {10, 1, 30}, {10, 2, 10}}));
    CHECK(offered_jobs(env) == std::vector<std::int32_t>{0});  // somebody has to begin
    static_cast<void>(env.step(0));
    REQUIRE(env.state().now() == 10);
    CHECK(offered_jobs(env) == (line == QueueOrder::kFifo ? std::vector<std::int32_t>{-1, 1, 2}
                                                          : std::vector<std::int32_t>{-1, 2, 1}));
    CHECK(env.describe(0) == "wait");
    // Who waits is asked again when GPUs have become free.
    static_cast<void>(env.step(0));
    CHECK(env.state().now() == Approx(100));
    CHECK(offered_jobs(env).size() == 3);
    CHECK(env.offers()[0].job >= 0);
  }
}

TEST_CASE("no more jobs are offered than the window has", "[unit][env]") {
  JobSchedulingConfig config = one_server();
  config.window = 2;
  const auto task = std::make_shared<const JobSchedulingTask>(config);
  GpuSchedulingEnv env(task);
  env.reset(jobs_of(*task, {{0, 2, 10}, {0, 1, 10}, {0, 1, 10}, {0, 1, 10}}));
  CHECK(offered_jobs(env) == std::vector<std::int32_t>{0, 1});
  // With one running, also to wait.
  static_cast<void>(env.step(1));
  CHECK(offered_jobs(env) == std::vector<std::int32_t>{-1, 2, 3});
}

TEST_CASE("orders of jobs come to the completion times that they are known for", "[unit][env]") {
  const auto task = std::make_shared<const JobSchedulingTask>(one_server());
  // The first wants all GPUs, the second as well and little time, the third one GPU for long.
  const GpuJobSpecs jobs = jobs_of(*task, {{0, 2, 10}, {1, 2, 40}, {2, 1, 30}, {3, 2, 20}});
  // 10, 50, 80, 100.
  CHECK(average_jct(*task, jobs, "fifo") == Approx((10 + 49 + 78 + 97) / 4.0));
  // 10, then the fourth until 30, the third until 60, the second until 100.
  CHECK(average_jct(*task, jobs, "srtf") == Approx((10 + 27 + 58 + 99) / 4.0));
  // By GPU time: the third (30) before the fourth (40) before the second (80).
  CHECK(average_jct(*task, jobs, "srsf") == Approx((10 + 38 + 57 + 99) / 4.0));
}

TEST_CASE("a job runs where the rule for places puts it", "[unit][env]") {
  for (const PlacementRule place : {PlacementRule::kBestFit, PlacementRule::kLeastLoaded}) {
    JobSchedulingConfig config = one_server();
    config.cluster.topology.servers = 2;
    config.cluster.topology.gpu_types = {{"v100", 2}};
    config.place = place;
    const auto task = std::make_shared<const JobSchedulingTask>(config);
    GpuSchedulingEnv env(task);
    env.reset(jobs_of(*task, {{0, 1, 100}, {10, 1, 50}}));
    static_cast<void>(env.step(0));
    CHECK(env.describe(1) == std::string("job 1 (image_large, 1 GPUs) on server ") +
                                 (place == PlacementRule::kBestFit ? "0" : "1"));
  }
}

TEST_CASE("a job scheduler that cannot be is refused", "[unit][env]") {
  JobSchedulingConfig config = one_server();
  config.cluster.partitions = 2;
  CHECK_THROWS_WITH(JobSchedulingTask(config), Catch::Contains("partitions"));
  config = one_server();
  config.window = 4000;  // to wait, each of them, and a place that is not offered
  CHECK(observation_spec(config).candidates.most == 4002);
  CHECK_NOTHROW(JobSchedulingTask(config));
  config.window = 0;
  CHECK_THROWS_WITH(JobSchedulingTask(config), "env.window: must be in 1..4000");
  config = one_server();
  config.place = PlacementRule::kRandom;
  CHECK_THROWS_WITH(JobSchedulingTask(config), Catch::Contains("place"));
  config = one_server();
  config.jobs.largest_gpus = 4;
  CHECK_THROWS_WITH(JobSchedulingTask(config), Catch::Contains("largest_gpus"));
  const auto task = std::make_shared<const JobSchedulingTask>(one_server());
  CHECK_THROWS_WITH(task->make_agent("srt"), Catch::Contains("did you mean"));
  CHECK_THROWS_AS(task->make_agent("srtf:1.4"), UserError);
}

}  // namespace
}  // namespace pacml::env
