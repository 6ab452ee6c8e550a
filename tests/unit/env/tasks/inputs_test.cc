// What a task reads is part of what it is: whoever goes on with a run, or joins it, has the same.

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "common/result.h"
#include "common/try_again.h"
#include "env/gpu_cluster/job_trace.h"
#include "env/graph/profile_writer.h"
#include "env/tasks/cluster_scheduling/task.h"
#include "env/tasks/device_placement/task.h"
#include "env/tasks/partitioning/task.h"
#include "env/tasks/placement_shaping/task.h"
#include "env/tasks/python/task.h"
#include "env/text/file_hash.h"
#include "env/text/json_file.h"
#include "tests/support/catch.h"
#include "tests/support/profiles.h"
#include "tests/support/temp_dir.h"

namespace pacml::env {
namespace {

using Inputs = std::map<std::string, std::uint64_t>;

// `inputs_with` is told the file's path. Its hash is the file's: of nothing else, and of all of it.
template <class InputsWith>
void check_input(const std::string& setting, const std::string& name, const std::string& text,
                 const std::string& other, const InputsWith& inputs_with) {
  INFO(setting);
  const testing::TempDir folder;
  const std::string file = (folder / name).string();
  std::ofstream(file) << text;
  const Inputs first = inputs_with(file);
  REQUIRE(first.size() == 1);
  REQUIRE(first.contains(setting));
  REQUIRE(inputs_with(file) == first);
  const std::string elsewhere = (folder / ("other_" + name)).string();
  std::filesystem::copy_file(file, elsewhere);
  REQUIRE(inputs_with(elsewhere) == first);
  std::ofstream(file) << other;
  REQUIRE_FALSE(inputs_with(file) == first);
}

std::string trace_with(int duration) {
  std::string text = std::string(kJobTraceHeader) + "\n";
  for (int i = 0; i < 40; ++i) {
    text += std::to_string(i) + "," + std::to_string(100 * i) + ",1,1," +
            std::to_string(duration + 10 * i) + ",,image_small,u,,,\n";
  }
  return text;
}

TEST_CASE("what the files of a task say is told by their hashes", "[unit][env]") {
  check_input("env.trace.file", "trace.csv", trace_with(100), trace_with(200),
              [](const std::string& file) {
                ClusterSchedulingConfig config;
                config.cluster.partitions = 1;
                config.trace = {.file = file, .until = 1};
                config.jobs.jobs = 10;
                return ClusterSchedulingTask(config).spec().inputs;
              });
  const std::string jobs =
      R"({"jobs": [{"submit": 0, "type": "image_small", "gpus": 1, "steps": 9}]})";
  check_input("env.job_lists", "jobs.json", jobs, jobs + "\n", [](const std::string& file) {
    ClusterSchedulingConfig config;
    config.job_lists = {file};
    return ClusterSchedulingTask(config).spec().inputs;
  });
  check_input("env.devices", "devices.yaml", "devices: [{name: a}, {name: b}]\n",
              "devices: [{name: a}, {name: b, speed: 2}]\n", [](const std::string& file) {
                DevicePlacementConfig config;
                config.families = {"branch"};
                config.num_graphs = 1;
                config.devices = {file, "placeto:2"};
                return std::make_shared<const DevicePlacementTask>(config)->spec().inputs;
              });
  const std::string task =
      "class T:\n    globals = ['x']\n    actions = 2\n"
      "    def reset(self, *, seed):\n        return [0.0], {}\n"
      "    def step(self, action):\n        return [0.0], 1.0, False, False, {}\n";
  check_input("env.file", "task.py", task, task + "# a comment\n", [](const std::string& file) {
    PythonConfig config;
    config.file = file;
    config.make = "T";
    config.interpreter = "/usr/bin/python3";
    return PythonTask(config).spec().inputs;
  });
}

// A folder of one profile as a user may have it.
std::string profiles_in(const testing::TempDir& folder, double time_scale, double optimizer_bytes) {
  Profile profile = testing::make_profile({{1, "A", 1, 3, 1e9, 1e6}, {2, "B", 2, 2, 5e8, 1e6}},
                                          {{1, 2}}, "chain");
  for (ForwardOp& op : profile.ops) {
    op.forward_time *= time_scale;
    op.backward_time *= time_scale;
    op.optimizer_bytes = optimizer_bytes;
  }
  std::filesystem::create_directories(folder / "profiles/chain");
  std::ofstream(folder / "profiles/chain/graph.txt") << to_graph_txt(profile);
  return (folder / "profiles").string();
}

// Features, by which graphs are told apart, are shares of a graph's greatest.
TEMPLATE_TEST_CASE("profiles that differ in scale or optimiser alone are others", "[unit][env]",
                   PartitioningConfig, PlacementShapingConfig, DevicePlacementConfig) {
  const testing::TempDir folder;
  const auto spec_of = [](const std::string& profiles) {
    TestType config;
    config.profiles = profiles;
    using Task =
        std::conditional_t<std::is_same_v<TestType, PartitioningConfig>, PartitioningTask,
                           std::conditional_t<std::is_same_v<TestType, PlacementShapingConfig>,
                                              PlacementShapingTask, DevicePlacementTask>>;
    return std::make_shared<const Task>(config)->spec();
  };
  const EnvironmentSpec first = spec_of(profiles_in(folder, 1, 0));
  REQUIRE(first.inputs.contains("env.profiles"));
  CHECK(spec_of(profiles_in(folder, 1, 0)).inputs == first.inputs);
  const EnvironmentSpec slower = spec_of(profiles_in(folder, 2, 0));
  CHECK(slower.inputs != first.inputs);
  CHECK(spec_of(profiles_in(folder, 1, 1e6)).inputs != first.inputs);
  if constexpr (!std::is_same_v<TestType, DevicePlacementConfig>) {
    CHECK(slower.graph_hashes() == first.graph_hashes());
  }
}

TEST_CASE("what comes of itself has no inputs", "[unit][env]") {
  CHECK(ClusterSchedulingTask(ClusterSchedulingConfig()).spec().inputs.empty());
  CHECK(std::make_shared<const PartitioningTask>(PartitioningConfig())->spec().inputs.empty());
}

TEST_CASE("a file is hashed whole, however long it is", "[unit][env]") {
  const testing::TempDir folder;
  const std::string file = (folder / "long").string();
  std::string bytes(3'000'001, 'x');
  const auto hash_of = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
    return file_hash(file);
  };
  const auto first = hash_of(bytes);
  CHECK(hash_of(bytes) == first);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1'500'000}, bytes.size() - 1}) {
    std::string other = bytes;
    other[at] = 'y';
    CHECK_FALSE(hash_of(other) == first);
  }
  bytes.pop_back();
  CHECK_FALSE(hash_of(bytes) == first);
  CHECK_FALSE(file_hash(file, 1) == file_hash(file));
  CHECK_THROWS_WITH(file_hash((folder / "none").string()), Catch::Contains("cannot be read"));
}

TEST_CASE("a file that its disk does not give now may be tried again", "[unit][env]") {
  const std::string away = "/proc/self/mem";  // nothing is mapped where it begins
  CHECK_THROWS_AS(file_hash(away), TryAgainError);
  CHECK_THROWS_AS(read_json_file(away), TryAgainError);
  CHECK_THROWS_WITH(read_json_file(away), away + ": it cannot be read: Input/output error");
}

}  // namespace
}  // namespace pacml::env
