#include "env/tasks/job_placing/graph_speeds.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "env/tasks/gpu_scheduling/environment.h"
#include "env/tasks/job_placing/task.h"
#include "tests/support/catch.h"
#include "tests/support/profiles.h"
#include "tests/support/temp_dir.h"

namespace pacml::env {
namespace {

const std::vector<GpuTypeServers> kGpus = {{"v100", 3}, {"p100", 1}};

std::map<int, GpuSpeed> speeds_of(const Profile& profile, const GraphSpeedsConfig& config = {}) {
  const GpuSpeedTables tables = graph_speeds(std::vector{profile}, config, kGpus);
  REQUIRE(tables.pairs.empty());
  REQUIRE(tables.types.at(profile.model).host_load == 0);
  const auto& by_gpu = tables.types.at(profile.model).speeds;
  REQUIRE(by_gpu.at("p100") == by_gpu.at("v100"));
  return by_gpu.at("v100");
}

TEST_CASE("a job of nothing to send is as fast as it has pieces", "[unit][env]") {
  // 12 ms a step; no piece is shorter than a millisecond, by its forward pass.
  const auto speeds =
      speeds_of(testing::single_op(4, 8), {.largest = 8, .op_quantum = 1, .link_latency_s = 1});
  CHECK(speeds.size() == 3);  // four pieces are all that there are
  for (const auto& [gpus, speed] : speeds) {
    INFO(gpus);
    CHECK(speed.together == Approx(gpus / 0.012));
    CHECK(speed.spread == Approx(gpus / 0.012));
  }
}

TEST_CASE("what the network takes is on top, by the link that all peers share", "[unit][env]") {
  // Pieces of the backward pass tell each other their share of the parameters.
  constexpr double kBytes = 48e6;
  const GraphSpeedsConfig config{
      .largest = 4, .op_quantum = 1, .link_bandwidth = 1e9, .link_latency_s = 1e-3};
  const auto speeds = speeds_of(testing::single_op(4, 8, 0, kBytes), config);
  CHECK(speeds.at(1).together == Approx(1 / 0.012));
  CHECK(speeds.at(1).spread == speeds.at(1).together);
  for (const int n : {2, 4}) {
    INFO(n);
    CHECK(speeds.at(n).together == Approx(n / 0.012));
    // An all-reduce between n: each sends and receives 2 (n - 1) / n of it.
    const double network_s = 2e-3 + 2.0 * (n - 1) / n * kBytes / 1e9;
    CHECK(1 / speeds.at(n).spread == Approx(0.012 / n + network_s));
  }
}

TEST_CASE("sizes without room are left out", "[unit][env]") {
  const Profile profile = testing::single_op(4, 8, 0, 30e9);  // 60 GB for both passes
  GraphSpeedsConfig config{.largest = 4, .op_quantum = 1};
  CHECK(speeds_of(profile, config).contains(1));
  config.gpu_memory_bytes = 40e9;
  const auto speeds = speeds_of(profile, config);
  CHECK_FALSE(speeds.contains(1));
  CHECK(speeds.contains(2));
  config.gpu_memory_bytes = 1e9;
  CHECK_THROWS_WITH(speeds_of(profile, config), Catch::Contains("gpu_memory_bytes: \"single\""));
}

TEST_CASE("types of jobs are models, each once", "[unit][env]") {
  const Profile profile = testing::single_op(4, 8);
  CHECK_THROWS_WITH(graph_speeds(std::vector{profile, profile}, {}, kGpus),
                    Catch::Contains("\"single\" is there twice"));
  CHECK(validate(GraphSpeedsConfig{}).empty());
  for (const GraphSpeedsConfig& bad :
       {GraphSpeedsConfig{.largest = 3}, GraphSpeedsConfig{.largest = 66},
        GraphSpeedsConfig{.op_quantum = 0}, GraphSpeedsConfig{.link_bandwidth = 0},
        GraphSpeedsConfig{.link_latency_s = -1}, GraphSpeedsConfig{.gpu_memory_bytes = 0}}) {
    CHECK(validate(bad).size() == 1);
  }
}

TEST_CASE("jobs of the job placing task run as fast as their graphs say", "[unit][env]") {
  JobPlacingConfig config;
  config.cluster.topology = {
      .gpus_per_group = 1, .sockets = 1, .dims = {2, 2}, .gpu_types = {{"v100", 4}}};
  config.cluster.share = 1;
  config.jobs = {.jobs = 5, .largest_gpus = 4};
  config.speeds_from = SpeedSource::kGraphs;
  config.graphs.models = {"alexnet", "resnet18"};
  const auto task = std::make_shared<const JobPlacingTask>(config);
  const JobSpeeds& speeds = task->model()->speeds();
  CHECK(std::vector(speeds.types().begin(), speeds.types().end()) == config.graphs.models);
  GpuSchedulingEnv env(task);
  env.reset(Seed{3});
  REQUIRE(env.offers().size() == 3);  // somebody has to begin, on 1, 2 or 4
  const auto& shapes = speeds.shapes();
  for (const Offer& offer : env.offers().all()) {
    const GpuJobShape& shape = shapes[static_cast<std::size_t>(offer.shape)];
    CHECK(offer.rate == Approx(1 / (shape.compute_s[0] + shape.network_s[0])));
  }
  config.graphs.models = {"alexnot"};
  CHECK_THROWS_WITH(JobPlacingTask(config), Catch::Contains("alexnot"));
  config.graphs.models = {};
  config.graphs.largest = 5;
  CHECK_THROWS_WITH(JobPlacingTask(config), Catch::Contains("graphs.largest"));
  config.graphs.largest = 4;
  config.speeds = "somewhere.json";
  CHECK_THROWS_WITH(JobPlacingTask(config), Catch::Contains("env.speeds: a table is not read"));
  config.speeds = "";
  config.speeds_from = SpeedSource::kTables;
  config.profiles = "somewhere";
  CHECK_THROWS_WITH(JobPlacingTask(config), Catch::Contains("env.profiles: job graphs are read"));
}

TEST_CASE("a run on job graphs of a folder holds to them", "[unit][env]") {
  const testing::TempDir folder;
  std::filesystem::create_directory(folder / "two");
  const auto inputs_with = [&](const char* time) {
    std::ofstream(folder / "two" / "graph.txt")
        << "node1 -- A -- forward_compute_time=4.0, backward_compute_time=8.0, "
           "activation_size=0.0, parameter_size=0.0\n"
        << "node2 -- B -- forward_compute_time=" << time
        << ", backward_compute_time=8.0, activation_size=0.0, parameter_size=0.0\n"
        << "\tnode1 -- node2\n";
    JobPlacingConfig config;
    config.speeds_from = SpeedSource::kGraphs;
    config.profiles = folder.path().string();
    return JobPlacingTask(config).spec().inputs;
  };
  const auto inputs = inputs_with("4.0");
  CHECK(inputs.contains("env.profiles"));
  CHECK(inputs_with("4.0") == inputs);
  CHECK_FALSE(inputs_with("5.0") == inputs);

  // Whoever has graphs of their own has told which types there are.
  JobPlacingConfig config;
  config.speeds_from = SpeedSource::kGraphs;
  config.profiles = folder.path().string();
  config.trace = {.file = (folder / "trace.csv").string(), .from = 0, .until = 1};
  config.jobs = {.jobs = 1, .largest_gpus = 1, .least_s = 10, .most_s = 100};
  const auto write_trace = [&](const char* type) {
    std::ofstream(config.trace.file)
        << "job_id,submit_s,gpus,gpu_share,duration_s,steps,job_type,user,vc,gpu_type,state\n"
        << "a,0,1,1,50,," << type << ",,,,\n";
  };
  write_trace("three");
  CHECK_THROWS_WITH(JobPlacingTask(config), Catch::Contains("there are speeds of no type"));
  write_trace("two");
  CHECK_NOTHROW(JobPlacingTask(config));
}

}  // namespace
}  // namespace pacml::env
