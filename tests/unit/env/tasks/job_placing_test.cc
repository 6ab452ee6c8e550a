#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "env/tasks/gpu_scheduling/environment.h"
#include "env/tasks/job_placing/task.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_jobs.h"

namespace pacml::env {
namespace {

using testing::average_jct;
using testing::jobs_of;

// Four servers of one GPU each, in a ring.
JobPlacingConfig ring_of_four() {
  JobPlacingConfig c;
  c.cluster.topology = {.gpus_per_group = 1, .sockets = 1, .dims = {4}, .gpu_types = {{"v100", 4}}};
  c.cluster.host_cap = 1e6;
  c.cluster.share = 1;
  c.jobs.largest_gpus = 4;
  return c;
}

std::vector<std::size_t> offered_sizes(const GpuSchedulingEnv& env) {
  std::vector<std::size_t> sizes;
  for (const Offer& offer : env.offers().all()) sizes.push_back(offer.num_gpus);
  return sizes;
}

double rate_on(const GpuSchedulingTask& task, int gpus) {
  const JobSpeeds& speeds = task.model()->speeds();
  const GpuJobShape& shape =
      speeds.shapes()[static_cast<std::size_t>(speeds.shape("image_large", gpus))];
  return 1 / (shape.compute_s.front() + (gpus > 1 ? shape.network_s.front() : 0));
}

TEST_CASE("the next job is offered every size that has room, whatever it asks for", "[unit][env]") {
  const auto task = std::make_shared<const JobPlacingTask>(ring_of_four());
  GpuSchedulingEnv env(task);
  env.reset(jobs_of(*task, {{0, 2, 100}, {0, 4, 100}, {1, 1, 100}}));
  CHECK(offered_sizes(env) == std::vector<std::size_t>{1, 2, 4});  // somebody has to begin
  CHECK(env.offers()[0].job == 0);
  CHECK(env.offers()[0].rate == Approx(rate_on(*task, 1)));
  CHECK(env.offers()[1].rate == Approx(rate_on(*task, 2)));
  CHECK(env.offers()[2].rate == Approx(rate_on(*task, 4)));
  CHECK_THAT(env.describe(2), Catch::Contains("4 GPUs"));
  CHECK_THAT(env.describe_kind(2), Catch::StartsWith("4 GPUs on ") && !Catch::Contains("job"));
  // It asks for two: nothing is changed by what is offered.
  CHECK(env.state().jobs()[0].gpus == 2);
  CHECK(env.state().gpus_wanted(0) == 6);
  static_cast<void>(env.step(0));
  CHECK(env.state().jobs()[0].gpus == 1);
  CHECK(env.state().progress(0).rate == Approx(rate_on(*task, 1)));
  CHECK(env.state().gpus_wanted(0) == 5);
  // The next one; three GPUs are idle, and it may wait.
  CHECK(offered_sizes(env) == std::vector<std::size_t>{0, 1, 2});
  CHECK(env.offers()[1].job == 1);
  static_cast<void>(env.step(2));
  CHECK(env.state().jobs()[1].gpus == 2);
}

TEST_CASE("a job takes as long as its size lets it", "[unit][env]") {
  const auto task = std::make_shared<const JobPlacingTask>(ring_of_four());
  const auto jobs = jobs_of(*task, {{0, 1, 100}});
  for (const auto& [name, gpus] :
       {std::pair("constant:1", 1), std::pair("constant:2", 2), std::pair("constant:3", 2),
        std::pair("constant:64", 4), std::pair("max_parallel", 4), std::pair("as_asked", 1)}) {
    INFO(name);
    CHECK(average_jct(*task, jobs, name) == Approx(100 * rate_on(*task, 1) / rate_on(*task, gpus)));
  }
}

TEST_CASE("rules wait for their size where they may, and take less where they may not",
          "[unit][env]") {
  JobPlacingConfig config = ring_of_four();
  for (const bool pass : {true, false}) {
    INFO(pass);
    config.pass = pass;
    const auto task = std::make_shared<const JobPlacingTask>(config);
    GpuSchedulingEnv env(task);
    // The second comes while one GPU is taken.
    env.reset(jobs_of(*task, {{0, 1, 100}, {1, 4, 100}}));
    const auto rule = task->make_agent("as_asked");
    CHECK(env.offers()[static_cast<std::size_t>(rule->act(env))].num_gpus == 1);
    static_cast<void>(env.step(rule->act(env)));
    const Offer chosen = env.offers()[static_cast<std::size_t>(rule->act(env))];
    CHECK(chosen.num_gpus == (pass ? 0 : 2));
  }
}

TEST_CASE("a job that gets less than it asks for is slowed down", "[unit][env]") {
  const auto task = std::make_shared<const JobPlacingTask>(ring_of_four());
  GpuSchedulingEnv env(task);
  env.reset(jobs_of(*task, {{0, 4, 100}}));
  static_cast<void>(env.step(task->make_agent("constant:1")->act(env)));
  const double slower = rate_on(*task, 4) / rate_on(*task, 1);
  REQUIRE(slower > 1.5);
  CHECK(env.spec().metric(env.summary(), "mean_slowdown") == Approx(slower));
  CHECK(env.spec().metric(env.summary(), "relative_jct") == Approx(slower));
}

TEST_CASE("rules do not wait for sizes that are not offered", "[unit][env]") {
  JobPlacingConfig config = ring_of_four();
  config.sizes = 2;
  const auto task = std::make_shared<const JobPlacingTask>(config);
  for (const char* name : {"as_asked", "constant:4"}) {
    INFO(name);
    GpuSchedulingEnv env(task);
    env.reset(jobs_of(*task, {{0, 1, 100}, {1, 4, 100}}));
    const auto rule = task->make_agent(name);
    static_cast<void>(env.step(rule->act(env)));
    CHECK(env.offers()[static_cast<std::size_t>(rule->act(env))].num_gpus == 2);
  }
}

TEST_CASE("what is efficient is up to how much a doubling must pay", "[unit][env]") {
  const auto task = std::make_shared<const JobPlacingTask>(ring_of_four());
  GpuSchedulingEnv env(task);
  env.reset(jobs_of(*task, {{0, 1, 100}}));
  const double doubling = rate_on(*task, 2) / rate_on(*task, 1) - 1;
  const auto size = [&](double share) {
    const auto rule = task->make_agent("efficient:" + std::to_string(share));
    return env.offers()[static_cast<std::size_t>(rule->act(env))].num_gpus;
  };
  REQUIRE(doubling > 0);
  REQUIRE(doubling < 1);
  CHECK(size(doubling + 0.01) == 1);
  CHECK(size(doubling - 0.01) >= 2);
  CHECK(size(1e-6) == 4);
}

TEST_CASE("a future that is drawn anew leaves sizes that were chosen alone", "[unit][env]") {
  JobPlacingConfig config = ring_of_four();
  config.jobs.jobs = 20;
  const auto task = std::make_shared<const JobPlacingTask>(config);
  GpuSchedulingEnv env(task);
  std::vector<testing::JobOfTest> many(20, {1, 1, 100});
  many.front() = {0, 2, 1e6};
  env.reset(jobs_of(*task, many));
  static_cast<void>(env.step(0));  // on one GPU instead of two
  const int chosen = env.state().jobs()[0].gpus;
  REQUIRE(chosen == 1);
  REQUIRE(env.state().progress(0).status == GpuJobStatus::kRunning);
  const auto copy = env.clone();
  REQUIRE(copy->resample_future(Seed{9}));
  const auto& imagined = scheduling_env(*copy);
  CHECK(imagined.state().jobs()[0].gpus == chosen);
  CHECK(imagined.state().layout(0).gpus.size() == static_cast<std::size_t>(chosen));
  // What a copy chooses is its own.
  const auto other = env.clone();
  std::vector<std::int32_t> asked;
  for (std::int32_t job = 1; job < 20; ++job) asked.push_back(env.state().jobs()[job].gpus);
  while (!other->step(static_cast<int>(scheduling_env(*other).offers().size()) - 1).final()) {
  }
  for (std::int32_t job = 1; job < 20; ++job) {
    CHECK(env.state().jobs()[job].gpus == asked[static_cast<std::size_t>(job) - 1]);
  }
}

TEST_CASE("settings of job placing that cannot be are refused by name", "[unit][env]") {
  const auto problem = [](auto change) {
    JobPlacingConfig config = ring_of_four();
    change(config);
    const auto problems = validate(config);
    return problems.empty() ? std::string("none") : problems.front();
  };
  CHECK(problem([](JobPlacingConfig&) {}) == "none");
  CHECK_THAT(problem([](JobPlacingConfig& c) { c.window = 0; }), Catch::StartsWith("window: "));
  CHECK_THAT(problem([](JobPlacingConfig& c) { c.sizes = 5000; }), Catch::StartsWith("window: "));
  CHECK_THAT(problem([](JobPlacingConfig& c) { c.reward = SchedulingReward::kDelay; }),
             Catch::StartsWith("reward: "));
  CHECK_THAT(problem([](JobPlacingConfig& c) { c.place = PlacementRule::kRandom; }),
             Catch::StartsWith("place: "));
  CHECK_THAT(problem([](JobPlacingConfig& c) {
               c.cluster.partitions = 2;
               c.jobs.largest_gpus = 2;
             }),
             Catch::StartsWith("cluster.partitions: this task has one scheduler"));
  const JobPlacingTask task(ring_of_four());
  CHECK_THROWS_WITH(task.make_agent("constant:0"), Catch::Contains("constant:N"));
  CHECK_THROWS_WITH(task.make_agent("efficient:2"), Catch::Contains("efficient:E"));
  CHECK_THROWS_WITH(task.make_agent("as_aksed"), Catch::Contains("did you mean 'as_asked'?"));
}

}  // namespace
}  // namespace pacml::env
