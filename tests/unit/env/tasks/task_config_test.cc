#include "env/task_config.h"

#include <string>

#include "common/result.h"
#include "env/tasks/partitioning/config.h"
#include "env/tasks/placement_shaping/config.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

// A configuration with a task in it, as a run's.
struct Holder {
  TaskConfig env;
  bool operator==(const Holder&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, Holder>
void visit_fields(Config& c, Visitor&& v) { v("env", c.env); }

Holder read(const std::string& yaml, const Holder& before = {}) {
  return read_config(ConfigSource::from_text("c.yaml", yaml), before);
}

TEST_CASE("a section that names no task is about partitioning", "[task_config]") {
  const Holder holder = read("env: {max_partitions_per_op: 8}");
  CHECK(holder.env.task() == "partitioning");
  CHECK(holder.env.as<PartitioningConfig>().max_partitions_per_op == 8);
  CHECK(read("{}") == Holder{});
  CHECK(read("env:") == Holder{});
}

TEST_CASE("the task says what the other keys mean", "[task_config]") {
  const Holder holder = read("env: {joint: true, task: placement_shaping, max_blocks: 7}");
  CHECK(holder.env.task() == "placement_shaping");
  CHECK(holder.env.is_of<PlacementShapingConfig>());
  CHECK_FALSE(holder.env.is_of<PartitioningConfig>());
  CHECK(holder.env.as<PlacementShapingConfig>().max_blocks == 7);
  CHECK(holder != Holder{});
  CHECK_THROWS_WITH(read("env: {joint: true}"), Catch::Contains("unknown key 'env.joint'"));
  CHECK_THROWS_WITH(read("env: {task: placement_shaping, observation: paper}"),
                    Catch::Contains("unknown key 'env.observation'"));
}

TEST_CASE("an override that changes the task over another one's settings is one mistake",
          "[task_config]") {
  const auto changed = [](const std::string& yaml, const std::vector<std::string>& overrides) {
    return read_config(ConfigSource::from_text("c.yaml", yaml, overrides), Holder{}).env;
  };
  const std::vector<std::string> placing{"env.task=placement_shaping"};
  CHECK_THROWS_MATCHES(
      changed("env: {observation: paper, max_partitions_per_op: 8}", placing), UserError,
      Catch::Message(
          "--set env.task=placement_shaping: env.task: the settings beside it are not all "
          "of placement_shaping; begin with a configuration of that task"));
  CHECK(changed("{}", placing).task() == "placement_shaping");
  CHECK(changed("env: {task: partitioning}", placing).task() == "placement_shaping");
  // What the user has said with it is a mistake of its own.
  CHECK_THROWS_WITH(changed("{}", {"env.task=placement_shaping", "env.observation=paper"}),
                    Catch::Contains("unknown key 'env.observation'"));
}

TEST_CASE("a configuration is written as it is read", "[task_config]") {
  const Holder holder = read("env: {task: placement_shaping, max_blocks: 7}");
  const std::string text = dump_config(holder);
  CHECK_THAT(text, Catch::StartsWith("env:\n  task: placement_shaping\n"));
  CHECK(read(text) == holder);
  CHECK(read(dump_config(Holder{})) == Holder{});
}

TEST_CASE("settings that are read anew go on from those before, within a task", "[task_config]") {
  const Holder before = read("env: {task: placement_shaping, max_blocks: 7}");
  CHECK(read("env: {joint: true}", before).env.as<PlacementShapingConfig>().max_blocks == 7);
  CHECK(read("env: {task: partitioning}", before).env == TaskConfig("partitioning"));
}

TEST_CASE("what is wrong with a task's settings is told with its place", "[task_config]") {
  CHECK_THROWS_WITH(read("env: {task: partitoning}"),
                    Catch::Contains("c.yaml:1: env.task: expected one of partitioning, "
                                    "placement_shaping") &&
                        Catch::Contains("did you mean 'partitioning'"));
  CHECK_THROWS_WITH(read("env: {task: [a]}"), Catch::Contains("env.task: expected one of"));
  CHECK_THROWS_WITH(read("env: [1]"), Catch::Contains("env: expected a map"));
  CHECK_THROWS_WITH(read("env:\n  task: placement_shaping\n  max_blocks: 0"),
                    Catch::Contains("c.yaml:3: env: max_blocks: must be in"));
  CHECK_THROWS_WITH(read("env:\n  cluster:\n    max_simulation_time: -1"),
                    Catch::Contains("c.yaml:3: env.cluster: max_simulation_time"));
  CHECK_THROWS_AS(TaskConfig("nothing"), UserError);
  TaskConfig bad;
  CHECK(bad.is_valid());
  bad.as<PartitioningConfig>().max_partitions_per_op = 3;
  CHECK_FALSE(bad.is_valid());
}

TEST_CASE("the folder of job graphs is set whatever the task", "[task_config]") {
  TaskConfig config("placement_shaping");
  CHECK(config.profiles().empty());
  config.set_profiles("models");
  CHECK(config.profiles() == "models");
  CHECK(config.as<PlacementShapingConfig>().profiles == "models");
  const TaskConfig copy = config;
  config.forget_folders();
  CHECK(copy.profiles() == "models");
  CHECK(config.profiles().empty());
}

}  // namespace
}  // namespace pacml::env
