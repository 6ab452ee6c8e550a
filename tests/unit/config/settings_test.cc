#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/launch/site.h"
#include "apps/run/train_config.h"
#include "common/config/dump.h"
#include "common/config/reader.h"
#include "common/config/source.h"
#include "common/result.h"
#include "env/task_config.h"
#include "env/tasks/partitioning/environment.h"
#include "tests/support/catch.h"
#include "tests/support/source_path.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

// What a slip of the keyboard makes of any number of a configuration.

namespace pacml::apps {
namespace {

using Kind = ConfigNode::Kind;

// A number somewhere in a configuration: "actor.environments=", or "env.ramp.topology=[4,", "2]".
struct Number {
  std::string key;
  std::string before;  // what stands between the key and the number, and after it
  std::string after;
};

bool is_number(const ConfigNode& node) {
  if (node.kind != Kind::kScalar || node.quoted) return false;
  double value = 0;
  const char* const end = node.text.data() + node.text.size();
  const auto [rest, error] = std::from_chars(node.text.data(), end, value);
  return error == std::errc{} && rest == end;
}

void collect(const ConfigNode& node, const std::string& key, std::vector<Number>& out) {
  if (is_number(node)) out.push_back({key, "", ""});
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (!is_number(node.items[i])) continue;
    Number number{key, "[", "]"};
    for (std::size_t j = 0; j < node.items.size(); ++j) {
      if (j == i) continue;
      if (j < i) number.before += node.items[j].text + ", ";
      if (j > i) number.after.insert(number.after.size() - 1, ", " + node.items[j].text);
    }
    out.push_back(number);
  }
  for (const auto& [name, child] : node.entries) {
    collect(child, key.empty() ? name : key + "." + name, out);
  }
}

template <Configuration Config>
std::vector<Number> numbers_of(const Config& config) {
  std::vector<Number> out;
  collect(config_detail::to_node(config), "", out);
  return out;
}

// What may be any of them: why it does no harm.
struct Harmless {
  std::string key;
  std::vector<std::string> values;
  std::string why;
};

const std::vector<std::string> kAbsurd = {".inf", "-.inf", ".nan", "-1", "1e30", "-1e30"};

// Every one is refused with the key, or listed; what is listed is not refused.
template <class Load>
void check_absurd(const std::vector<Number>& numbers, const std::vector<Harmless>& harmless,
                  Load load) {
  for (const Number& number : numbers) {
    for (const std::string& absurd : kAbsurd) {
      const std::string change = number.key + "=" + number.before + absurd + number.after;
      INFO(change);
      const bool may = std::ranges::any_of(harmless, [&](const Harmless& known) {
        return known.key == number.key && std::ranges::count(known.values, absurd) > 0;
      });
      std::optional<std::string> refusal;
      try {
        load(change);
      } catch (const UserError& error) {
        refusal = error.what();
      }
      if (may) {
        CHECK_FALSE(refusal.has_value());
        continue;
      }
      CHECK(refusal.has_value());
      if (!refusal) continue;
      // By its name, or by that of what it is a part of.
      const std::size_t last = number.key.rfind('.');
      const std::string whole = last == std::string::npos ? "" : number.key.substr(0, last);
      CHECK_THAT(*refusal, Catch::Contains(number.key.substr(last + 1)) ||
                               Catch::Contains(whole.substr(whole.rfind('.') + 1)));
    }
  }
}

TEST_CASE("an absurd number in any setting of a run is refused with its key", "[unit][config]") {
  TrainConfig config = testing::tiny_config();
  testing::partitioning_of(config).reward.sign = 1;
  testing::partitioning_of(config).workload.requirement.list = {
      {"some", {.kind = env::DistributionKind::kUniform}}};
  const auto numbers = numbers_of(config);
  REQUIRE(numbers.size() > 100);
  const testing::TempDir folder;
  const std::string file = (folder / "c.yaml").string();
  std::ofstream(file) << dump_config(config);

  const std::vector<Harmless> harmless = {
      {"env.reward.success_reward", {"-1"}, "a reward may be a loss"},
      {"env.reward.fail_reward", {"-1"}, "as published"},
      {"env.reward.blocking_weight", {"-1"}, "a reward may be a loss"},
      {"env.reward.sign", {"-1"}, "that is what it is for"},
      {"env.workload.interarrival.skewness", {"-1"}, "the mass is at high values"},
      {"env.workload.requirement.skewness", {"-1"}, "the mass is at high values"},
      {"env.workload.requirement.list.some.skewness", {"-1"}, "the mass is at high values"},
      {"impala.optimizer.gradient_clip", {".inf", "1e30"}, "nothing is clipped"},
      {"apex.optimizer.gradient_clip", {".inf", "1e30"}, "nothing is clipped"},
      {"ppo.optimizer.gradient_clip", {".inf", "1e30"}, "nothing is clipped"},
      {"expert_iteration.optimizer.gradient_clip", {".inf", "1e30"}, "nothing is clipped"},
      {"reinforce.optimizer.gradient_clip", {".inf", "1e30"}, "nothing is clipped"},
      {"impala.vtrace.clip_rho", {".inf", "1e30"}, "nothing is clipped"},
      {"impala.vtrace.clip_advantage", {".inf", "1e30"}, "nothing is clipped"},
      {"apex.huber_delta", {"1e30"}, "errors are squared, however large"},
  };
  check_absurd(numbers, harmless, [&](const std::string& change) {
    static_cast<void>(load_train_config(file, {change}, ""));
  });
}

// Section `env` of a configuration that we ship, with some of it set. The task that it is about.
std::string check_task(const std::string& shipped, const std::vector<std::string>& set,
                       const std::vector<Harmless>& harmless) {
  INFO(shipped);
  const std::string file = testing::source_path("configs/" + shipped).string();
  const TrainConfig config = load_train_config(file, set, "");
  std::vector<Number> numbers;
  collect(config.env.to_node(), "env", numbers);
  REQUIRE(numbers.size() > 5);
  check_absurd(numbers, harmless, [&](const std::string& change) {
    std::vector<std::string> changes = set;
    changes.push_back(change);
    static_cast<void>(load_train_config(file, changes, ""));
  });
  return config.env.task();
}

TEST_CASE("an absurd number in any setting of any task is refused with its key", "[unit][config]") {
  std::set<std::string> tasks = {"partitioning"};  // whose settings are among those of a run
  tasks.insert(
      check_task("placement_shaping/joint_a.yaml", {"env.workload.loads=[1]", "env.reward.sign=1"},
                 {{"env.reward.success_reward", {"-1"}, "a reward may be a loss"},
                  {"env.reward.fail_reward", {"-1"}, "as published"},
                  {"env.reward.blocking_weight", {"-1"}, "a reward may be a loss"},
                  {"env.reward.sign", {"-1"}, "that is what it is for"},
                  {"env.workload.interarrival.skewness", {"-1"}, "the mass is at high values"},
                  {"env.workload.requirement.skewness", {"-1"}, "the mass is at high values"}}));
  tasks.insert(check_task("placement/families.yaml",
                          {"env.penalty.limit_gb=11", "env.penalty.cap_s=10"},
                          {{"env.penalty.limit_gb", {".inf", "1e30"}, "memory without a limit"},
                           {"env.penalty.cap_s", {".inf", "1e30"}, "no cap"}}));
  tasks.insert(check_task("gpu_cluster/small16.yaml", {}, {}));
  tasks.insert(check_task("gpu_cluster/job_scheduling.yaml", {}, {}));
  tasks.insert(check_task("gpu_cluster/job_placing_graphs.yaml", {},
                          {{"env.cluster.topology.servers", {"-1"}, "a torus has those of dims"}}));

  const env::TaskConfig python("python");
  std::vector<Number> numbers;
  collect(python.to_node(), "env", numbers);
  REQUIRE(!numbers.empty());
  check_absurd(numbers, {}, [](const std::string& change) {
    const auto key = change.substr(0, change.find('='));
    try {
      static_cast<void>(read_config<TrainConfig>(ConfigSource::from_text(
          "c.yaml", "env: {task: python, file: no.py, make: Nothing}\n", std::vector{change})));
    } catch (const UserError& error) {  // and not for want of the file, which would be read next
      CHECK_THAT(error.what(), Catch::Contains(key.substr(key.rfind('.') + 1)));
      throw;
    }
  });
  tasks.insert(python.task());
  for (const auto& kind : env::task_kinds()) CHECK(tasks.contains(kind.name));
}

TEST_CASE("an absurd number in any setting of a site is refused with its key", "[unit][config]") {
  const auto numbers = numbers_of(Site{});
  REQUIRE(numbers.size() > 10);
  check_absurd(numbers, {},
               [](const std::string& change) { static_cast<void>(load_site("", {change})); });
}

}  // namespace
}  // namespace pacml::apps
