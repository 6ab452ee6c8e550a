#include <pacml/decisions.h>
#include <pacml/environment.h>
#include <pacml/error.h>
#include <pacml/policy.h>
#include <pacml/version.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/random_run.h"
#include "tests/support/temp_dir.h"

namespace pacml::api {
namespace {

// A configuration, and an exported policy of random weights for it.
class Place {
 public:
  Place() {
    auto config = testing::cluster_config();
    testing::partitioning_of(config).cluster.max_simulation_time = 1e5;
    std::ofstream(config_file()) << dump_config(config);
    testing::write_random_policy(policy_file(), config, 3);
  }
  [[nodiscard]] std::string config_file() const { return (folder_ / "c.yaml").string(); }
  [[nodiscard]] std::string policy_file() const { return (folder_ / "p.safetensors").string(); }
  [[nodiscard]] Task task() const { return Task::from_file(config_file()); }

 private:
  testing::TempDir folder_;
};

int first_valid(const Environment& environment) {
  const auto mask = environment.observe().mask;
  return static_cast<int>(std::ranges::find(mask, std::uint8_t{1}) - mask.begin());
}

TEST_CASE("an installed task says what its decisions show", "[unit][api]") {
  const Task task = Place().task();
  CHECK(task.name() == "partitioning");
  CHECK(task.num_actions() == 5);
  CHECK(task.num_agents() == 1);
  CHECK(task.slots() == std::vector<std::string>{"job", "servers"});
  REQUIRE(task.num_graphs() == 3);
  CHECK(*task.graph(0).name == "alexnet");
  const Graph servers = task.graph(2);
  CHECK(servers.num_nodes == 8);
  CHECK(servers.node_features.size() == 8 * static_cast<std::size_t>(servers.node_width));
  CHECK(servers.edge_src.size() == static_cast<std::size_t>(servers.num_edges));
  CHECK_THROWS_AS(task.graph(3), Error);
  CHECK(task.metrics().front().name == "blocking_rate");
  CHECK(task.metrics().front().better == Better::kLower);
  const auto baselines = task.baselines();
  CHECK(std::ranges::find(baselines, "para_max") != baselines.end());
  CHECK_FALSE(task.candidate_features().empty());
}

TEST_CASE(
    "an episode is a function of its seed, and what is observed has the shapes that the task "
    "says",
    "[unit][api]") {
  const Place place;
  const Task task = place.task();
  Environment a(task);
  Environment b(task);
  a.reset(7);
  b.reset(7);
  for (int n = 0; n < 30 && !a.is_over(); ++n) {
    const Observation seen = a.observe();
    REQUIRE(seen.globals.size() == task.globals().size());
    REQUIRE(seen.mask.size() == 5);
    REQUIRE(seen.slots.size() == 2);
    REQUIRE(seen.slots[1].graph == 2);
    REQUIRE(seen.slots[1].node_features.size() == 8);
    const CandidateRows rows = a.candidates();
    REQUIRE(rows.count == static_cast<std::size_t>(std::ranges::count(seen.mask, 1)));
    REQUIRE(rows.rows.size() == rows.count * task.candidate_features().size());
    REQUIRE(rows.situation.size() == task.situation_features().size());
    REQUIRE(std::ranges::equal(seen.slots[1].node_features, b.observe().slots[1].node_features));
    const int action = first_valid(a);
    const Step stepped = a.step(action);
    REQUIRE(stepped.reward == b.step(action).reward);
    REQUIRE(stepped.elapsed == 1);
  }
  const auto figures = a.metrics();
  for (std::size_t m = 0; m < figures.size(); ++m) {
    const double other = b.metrics()[m];  // NaN: a mean over nothing
    CHECK((figures[m] == other || (std::isnan(figures[m]) && std::isnan(other))));
  }
  CHECK(a.metrics().size() == task.metrics().size());
}

TEST_CASE("what is not to be done with an environment is an error, and changes nothing",
          "[unit][api]") {
  const Place place;
  Environment environment(place.task());
  CHECK_THROWS_AS(environment.observe(), Error);
  CHECK_THROWS_AS(environment.step(0), Error);
  CHECK_THROWS_AS(environment.metrics(), Error);
  CHECK_THROWS_AS(environment.clone(), Error);
  CHECK(environment.is_over());
  environment.reset(1);
  CHECK_THROWS_AS(environment.step(-1), Error);
  CHECK_THROWS_AS(environment.step(5), Error);
  CHECK_THROWS_AS(environment.describe(99), Error);
  CHECK(environment.describe(0) == "refuse the job");
  while (!environment.is_over()) environment.step(0);
  CHECK_THROWS_AS(environment.step(0), Error);
  CHECK_THROWS_AS(environment.resample_future(1), Error);
}

TEST_CASE("a clone goes its own way", "[unit][api]") {
  const Place place;
  Environment environment(place.task());
  environment.reset(3);
  Environment clone = environment.clone();
  while (!clone.is_over()) clone.step(0);
  CHECK_FALSE(environment.is_over());
  CHECK(environment.metrics() != clone.metrics());
  CHECK(environment.resample_future(9));
}

TEST_CASE("an opened policy weighs every valid action, and a search tries some", "[unit][api]") {
  const Place place;
  Policy policy = Policy::open(place.policy_file());
  Environment environment(policy.task());
  environment.reset(5);
  const Decision decision = policy.decide(environment);
  const auto mask = environment.observe().mask;
  REQUIRE(decision.probabilities.size() == mask.size());
  double sum = 0;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    CHECK((decision.probabilities[a] > 0) == (mask[a] == 1));
    sum += decision.probabilities[a];
  }
  CHECK(sum == Approx(1).epsilon(1e-5));
  CHECK(decision.probabilities[static_cast<std::size_t>(decision.action)] ==
        *std::ranges::max_element(decision.probabilities));
  CHECK(decision.value);
  Policy searching = Policy::open(place.policy_file(), policy.task(),
                                  {.profiles = {}, .search = "K=2,H=2,gap=50"});
  searching.reset(1);
  const Decision searched = searching.decide(environment);
  REQUIRE(searched.action_values.size() == mask.size());
  CHECK_FALSE(std::isnan(searched.action_values[static_cast<std::size_t>(searched.action)]));
}

TEST_CASE("policies are for the decisions that they were trained for", "[unit][api]") {
  const Place place;
  const Task other = Task::from_file(place.config_file(), {"env.ramp.topology=[4,2,2]"});
  CHECK_THROWS_AS(Policy::open(place.policy_file(), other), Error);
  CHECK_THROWS_AS(Policy::open("nowhere"), Error);
  CHECK_THROWS_AS(Policy::baseline(place.task(), "para_mx"), Error);
  Policy policy = Policy::open(place.policy_file());
  Environment elsewhere(other);
  elsewhere.reset(1);
  CHECK_THROWS_AS(policy.decide(elsewhere), Error);
  Policy rule = Policy::baseline(other, "para_max");
  const Decision decision = rule.decide(elsewhere);
  CHECK(decision.probabilities.empty());
  CHECK(elsewhere.observe().mask[static_cast<std::size_t>(decision.action)] == 1);
}

TEST_CASE("every baseline plays an episode to its end", "[unit][api]") {
  const Place place;
  const Task task = place.task();
  int played = 0;
  for (const auto& name : task.baselines()) {
    Policy policy = Policy::baseline(task, name);
    Environment environment(task);
    environment.reset(2);
    policy.reset(2);
    while (!environment.is_over()) environment.step(policy.decide(environment).action);
    REQUIRE(environment.metrics().front() >= 0);
    ++played;
  }
  REQUIRE(played > 3);
}

TEST_CASE("what goes wrong in an environment in Python is the library's error", "[unit][api]") {
  const testing::TempDir folder;
  std::ofstream(folder / "task.py")
      << "class T:\n    globals = ['x']\n    actions = 2\n"
         "    def reset(self, *, seed):\n        self.n = 0\n        return [0.0], {}\n"
         "    def step(self, action):\n        self.n += 1\n"
         "        if self.n == 2: raise RuntimeError('no more')\n"
         "        return [1.0], 1.0, False, False, {}\n"
         "    def summary(self):\n        return 1 / 0\n"
         "    def describe(self, action):\n        return 1 / 0\n"
         "    def __deepcopy__(self, memo):\n        return 1 / 0\n";
  std::ofstream(folder / "c.yaml") << "env: {task: python, file: " << (folder / "task.py").string()
                                   << ", make: T, interpreter: /usr/bin/python3}\n";
  const Task task = Task::from_file((folder / "c.yaml").string());
  CHECK(task.baselines() == std::vector<std::string>{"random"});
  CHECK_THROWS_WITH(Policy::baseline(task, "constant"), Catch::Contains("needs an argument"));
  Environment environment(task);
  environment.reset(1);
  CHECK_THROWS_AS(environment.metrics(), Error);
  CHECK_THROWS_AS(environment.describe(0), Error);
  CHECK_THROWS_AS(environment.clone(), Error);
  environment.step(0);
  CHECK_THROWS_WITH(environment.step(0), Catch::Contains("no more"));
  CHECK(environment.is_over());
  CHECK_THROWS_AS(environment.step(0), Error);
  environment.reset(1);
  CHECK(environment.step(0).reward == 1);
}

TEST_CASE("a policy's file runs no code that it names", "[unit][api]") {
  const testing::TempDir folder;
  const std::string ran = (folder / "ran").string();
  std::ofstream(folder / "task.py")
      << "open('" << ran << "', 'w').close()\n"
      << "class T:\n    globals = ['x']\n    actions = 2\n"
         "    def reset(self, *, seed):\n        return [0.0], {}\n"
         "    def step(self, action):\n        return [1.0], 1.0, True, False, {}\n";
  const std::string text = "env: {task: python, file: " + (folder / "task.py").string() +
                           ", make: T, interpreter: /usr/bin/python3}\n"
                           "network: {head: dense}\n";
  const std::string config = (folder / "c.yaml").string();
  std::ofstream(config) << text;
  const Task task = Task::from_file(config);
  const std::string file = (folder / "p.safetensors").string();
  testing::write_random_policy(file, apps::load_train_config(config, {}, {}), 3);
  REQUIRE(std::filesystem::remove(ran));
  CHECK_THROWS_WITH(Policy::open(file), Catch::Contains("a file does not get to run"));
  CHECK_THROWS_WITH(DecisionService(file), Catch::Contains("a file does not get to run"));
  const Policy policy = Policy::open(file, task);
  CHECK(policy.warning().empty());
  CHECK_FALSE(std::filesystem::exists(ran));
}

TEST_CASE("a policy that was taken for the best one, which is damaged, says so", "[unit][api]") {
  const testing::TempDir folder;
  testing::write_random_run(folder / "run", testing::cluster_config(), 3);
  CHECK(Policy::open((folder / "run").string()).warning().empty());
  const auto best = folder / "run" / "checkpoints" / "best.safetensors";
  std::ofstream(best) << "cut off";
  CHECK_THAT(Policy::open((folder / "run").string()).warning(),
             Catch::Contains("best.safetensors") && Catch::Contains("need not be as good"));
  CHECK_THAT(DecisionService((folder / "run").string()).warning(),
             Catch::Contains("need not be as good"));
}

TEST_CASE("a configuration that is wrong is an error that names the key", "[unit][api]") {
  const Place place;
  try {
    static_cast<void>(Task::from_file(place.config_file(), {"env.ramp.topolgy=[4,2,2]"}));
    FAIL("it was taken");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Catch::Contains("topolgy"));
  }
}

TEST_CASE("a decision service answers lines", "[unit][api]") {
  const Place place;
  DecisionService service(place.policy_file());
  CHECK_THAT(service.answer(R"({"type": "describe"})"), Catch::Contains(R"("servers":8)"));
  CHECK_THAT(service.answer("x"), Catch::Contains(R"("type":"error")"));
  service.take_over(place.policy_file());
  CHECK_THROWS_AS(service.take_over("nowhere"), Error);
}

TEST_CASE("the headers are of the library's version", "[unit][api]") {
  const std::string text = std::to_string(PACML_VERSION_MAJOR) + "." +
                           std::to_string(PACML_VERSION_MINOR) + "." +
                           std::to_string(PACML_VERSION_PATCH);
  CHECK_THAT(version(), Catch::StartsWith(text));
}

}  // namespace
}  // namespace pacml::api
