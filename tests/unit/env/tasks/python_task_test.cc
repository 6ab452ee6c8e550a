#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "common/config/dump.h"
#include "common/config/reader.h"
#include "common/config/source.h"
#include "common/heartbeat.h"
#include "common/result.h"
#include "common/try_again.h"
#include "env/task_config.h"
#include "env/tasks/python/config.h"
#include "env/tasks/python/task.h"
#include "tests/support/catch.h"
#include "tests/support/process_state.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace pacml::env {
namespace {

// A file with one class, T, whose parts are said.
class Written {
 public:
  explicit Written(const std::string& body) {
    std::ofstream(folder_ / "task.py") << "import random, time, os\n\nclass T:\n" << body;
    config_.file = (folder_ / "task.py").string();
    config_.make = "T";
    config_.interpreter = "/usr/bin/python3";
  }
  [[nodiscard]] PythonConfig& config() { return config_; }
  [[nodiscard]] std::unique_ptr<Environment> environment() const {
    return PythonTask(config_).make_factory()();
  }
  // What is said of it, where it cannot be.
  [[nodiscard]] std::string refusal() const {
    try {
      const auto made = environment();
      made->reset(Seed{1});
      static_cast<void>(made->step(0));
    } catch (const UserError& error) {
      return error.what();
    }
    return "none";
  }

 private:
  testing::TempDir folder_;
  PythonConfig config_;
};

// Two actions, one global; `step` is its body.
std::string simple(const std::string& step, const std::string& reset = "return [0.5], {}") {
  return "    globals = ['x']\n    actions = 2\n    def reset(self, *, seed):\n        " + reset +
         "\n    def step(self, action):\n        " + step + "\n";
}

TEST_CASE("what an environment in Python says and shows is taken over", "[unit][env][python]") {
  Written written(R"(
    globals = ["load", {"name": "time", "unit": "s", "low": 0, "high": float("inf")}]
    candidates = {"most": 4, "features": ["size", "cost"], "vary": True}
    metrics = [{"name": "cost", "unit": "EUR", "better": "lower", "decimals": 1}]

    def __init__(self, start, name="n", mode="none"):
        assert start == [1, 2] and name == "a b" and mode is None

    def reset(self, *, seed):
        self.steps = 0
        print("what a task prints is not an answer")
        return {"globals": [seed, 0], "candidates": [[1, 2], [3, 4]], "mask": [False, True]}, {}

    def step(self, action):
        self.steps += 1
        shown = {"globals": [0.25, self.steps], "candidates": [[5, 6]] * 3, "mask": [1, 0, 1]}
        return shown, 2.5, False, self.steps == 2, {"elapsed": 4}

    def summary(self):
        return {"cost": 10 * self.steps}

    def describe(self, action):
        return f"take {action}"

    def last(self):
        """the last of them"""
        return 1 if self.steps == 0 else 2

    baselines = {"best_constant": last}
)");
  written.config().settings = {{"start", "[1, 2]"}, {"name", "a b"}, {"mode", std::nullopt}};
  const PythonTask task(written.config());
  const EnvironmentSpec& spec = task.spec();
  CHECK(spec.observation.globals[0].name == "load");
  CHECK(spec.observation.globals[1].unit == "s");
  CHECK(spec.observation.globals[1].low == 0);
  CHECK(std::isinf(spec.observation.globals[1].high));
  CHECK(spec.observation.candidates.most == 4);
  CHECK(spec.observation.candidates.vary);
  CHECK(spec.observation.candidates.features[1].name == "cost");
  REQUIRE(spec.metrics.size() == 1);
  CHECK(spec.objective().better == Better::kLower);
  CHECK(spec.objective().unit == "EUR");
  const auto baselines = task.baselines();
  REQUIRE(baselines.size() == 2);  // no constant: an action's place says nothing
  CHECK(baselines[0].description == "the last of them");
  CHECK(baselines[0].name == "best_constant");  // of the environment's own

  const auto env = task.make_factory()();
  env->reset(Seed{7});
  Observations seen = spec.make_observations();
  env->observe(seen);
  CHECK(seen.globals(0)[0] == 7);
  CHECK(seen.num_candidates(0) == 2);
  CHECK(seen.candidates(0)[2] == 3);
  CHECK(!env->takes(0));
  CHECK(!env->takes(2));
  CHECK(env->describe(1) == "take 1");
  const auto agent = task.make_agent("best_constant");
  CHECK(agent->act(*env) == 1);
  CHECK(task.make_agent("random")->act(*env) == 1);
  const StepResult first = env->step(1);
  CHECK(first.reward == 2.5F);
  CHECK(first.elapsed == 4);
  CHECK(!first.final());
  CHECK(agent->act(*env) == 2);

  const auto copy = env->clone();
  CHECK(env->step(0).truncated);
  CHECK(env->summary().metrics[0] == 20);
  CHECK(env->summary().episode_return == 5);
  CHECK(copy->summary().metrics[0] == 10);
  CHECK(copy->summary().decisions == 1);
  CHECK_FALSE(copy->resample_future(Seed{1}));  // it cannot
}

// Three in turns; each is paid for the others' actions, too.
constexpr const char* kInTurns = R"(
    globals = ["who", "steps"]
    actions = 2
    agents = 3

    def reset(self, *, seed):
        self.steps = 0
        return [0, 0], {"agent": 0}

    def step(self, action):
        self.steps += 1
        next = self.steps % 2 * 2  # 0, 2, 0, 2: agent 1 is never asked
        rewards = {other: 10.0 * other + self.steps for other in (0, 1, 2)}
        info = {"agent": next, "rewards": rewards}
        return [next, self.steps], float(action), False, self.steps == 4, info

    def observe_last(self, agent):
        return [agent, 99], {"action_mask": [1, agent != 2]}
)";

TEST_CASE("several agents in Python decide in turns, and are paid for what others do",
          "[unit][env][python]") {
  Written written(kInTurns);
  const PythonTask task(written.config());
  REQUIRE(task.spec().observation.agents == 3);
  const auto env = task.make_factory()();
  env->reset(Seed{1});
  const auto seen = [&] {
    Observations shown = task.spec().make_observations();
    env->observe(shown);
    REQUIRE(shown.agent(0) == env->agent());
    REQUIRE(shown.globals(0)[0] == static_cast<float>(env->agent()));
    return env->agent();
  };
  const auto others = [&] {
    const auto got = env->other_rewards();
    return std::vector<AgentReward>(got.begin(), got.end());
  };
  for (int episode = 0; episode < 2; ++episode) {
    CHECK(seen() == 0);
    CHECK(env->step(1).reward == 1);
    CHECK(others().empty());  // nobody else has decided yet
    CHECK(seen() == 2);
    static_cast<void>(env->step(0));
    CHECK(others() == std::vector<AgentReward>{{0, 2}});
    const auto copy = env->clone();
    CHECK(copy->agent() == 0);
    static_cast<void>(copy->step(1));
    CHECK(seen() == 0);
    static_cast<void>(env->step(1));
    CHECK(others() == std::vector<AgentReward>{{0, 3}, {2, 23}});
    const auto same = copy->other_rewards();
    CHECK(std::vector<AgentReward>(same.begin(), same.end()) == others());
    CHECK(env->step(1).truncated);
    // Of all agents together: their own, and 30 + 3 steps for the others in each step.
    CHECK(env->summary().episode_return == 3 + 4 * 30 + 3 * (1 + 2 + 3 + 4));
    Observations last = task.spec().make_observations();
    env->observe_last(2, last);
    CHECK(last.agent(0) == 2);
    CHECK(last.globals(0)[1] == 99);
    CHECK(last.num_valid(0) == 1);
    env->reset(Seed{2});
  }
}

TEST_CASE("numbers of Python that do not fit are refused, not cut", "[unit][env][python]") {
  const auto refusal = [](const std::string& number, const std::string& name) {
    std::string body = simple("return [1.0], 1, False, False, {}");
    const std::string mine = "    actions = 2\n";
    body.replace(body.find(mine), mine.size(), "    " + name + " = " + number + "\n");
    if (name != "actions") body = mine + body;
    return Written(body).refusal();
  };
  CHECK_THAT(refusal("2**32 + 2", "actions"), Catch::Contains("cannot be 4294967298"));
  CHECK_THAT(refusal("2**70", "actions"), Catch::Contains("candidates cannot be 1.18"));
  CHECK_THAT(refusal("2 - 2**32", "actions"), !Catch::Equals("none"));
  CHECK_THAT(refusal("2**32 + 1", "agents"), Catch::Contains("agents cannot be 4294967297"));
}

TEST_CASE("what baselines and futures of Python answer is what it says, or refused",
          "[unit][env][python]") {
  const auto answers = [](const std::string& said) {
    Written own("    baselines = {'b': lambda self: " + said +
                "}\n    def resample_future(self, seed):\n        return " + said + "\n" +
                simple("pass"));
    const PythonTask task(own.config());
    const auto env = task.make_factory()();
    env->reset(Seed{1});
    std::string all;
    try {
      all = std::to_string(task.make_agent("b")->act(*env));
    } catch (const UserError& error) {
      all = error.what();
    }
    try {
      return all + "; " + (env->resample_future(Seed{1}) ? "drawn" : "given");
    } catch (const UserError& error) {
      return all + "; " + error.what();
    }
  };
  CHECK(answers("1") == "1; drawn");
  CHECK(answers("0.0") == "0; given");
  CHECK(answers("False") == "0; given");
  CHECK(answers("None") == "task.py, T: act: actions are whole numbers, not None; drawn");
  CHECK(answers("1.5") ==
        "task.py, T: act: actions are whole numbers, not 1.5; task.py, T: resample: what "
        "resample_future returns is true or false, 1 or 0, not 1.5");
}

TEST_CASE("a Python task that has become two is one sentence", "[unit][env][python]") {
  const Written forks(simple("os.fork(); return [1.0], 1, False, False, {}"));
  const auto env = forks.environment();
  env->reset(Seed{1});
  const auto play = [&env] {
    for (std::uint64_t i = 0; i < 6; ++i) {
      static_cast<void>(env->step(0));
      env->reset(Seed{i});
    }
  };
  CHECK_THROWS_AS(play(), UserError);
}

TEST_CASE("what several agents in Python cannot be is one sentence", "[unit][env][python]") {
  const auto refusal = [](const std::string& body) { return Written(body).refusal(); };
  const std::string in_turns =
      std::string("    agents = 2\n") + simple("return [1.0], 1, False, False, {'agent': 2}");
  CHECK(refusal(in_turns) == "task.py, T shows agent number 2, and says that there are 2");
  CHECK_THAT(refusal("    agents = 0\n" + simple("pass")),
             Catch::Contains("a whole number, not 0"));
  CHECK_THAT(refusal("    agents = ['a', 'b']\n" + simple("pass")),
             Catch::Contains("how many decide in turns"));
  CHECK(refusal("    agents = 2\n" +
                simple("return [1.0], 1, False, False, {'rewards': {5: 1.0}}")) ==
        "task.py, T shows agent number 5, and says that there are 2");
  const Written cut(std::string("    agents = 2\n") +
                    simple("return [1.0], 1, False, True, {'agent': 1}"));
  const auto env = cut.environment();
  env->reset(Seed{1});
  REQUIRE(env->step(0).truncated);
  Observations last = env->spec().make_observations();
  CHECK_THROWS_WITH(env->observe_last(0, last), Catch::Contains("no method observe_last(agent)"));
}

// As PettingZoo's AEC environments are: two count up in turns; who says 1 leaves, and a third
// counting ends it for who is left.
constexpr const char* kAec = R"(
    possible_agents = ["left", "right"]
    class Box:
        low = high = None
        def __init__(self):
            class Flat(list):
                def reshape(self, _):
                    return self
            self.low, self.high = Flat([0.0]), Flat([9.0])
        def __eq__(self, other):
            return True
    class Discrete:
        n, start = 2, 0
        def __eq__(self, other):
            return True

    def observation_space(self, agent):
        return self.Box()

    def action_space(self, agent):
        return self.Discrete()

    def agent_iter(self):
        pass

    def reset(self, *, seed):
        self.agents = list(self.possible_agents)
        self.agent_selection = "left"
        self.count = {"left": 0, "right": 0}
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.rewards = dict.fromkeys(self.agents, 0)
        self.infos = {name: {} for name in self.agents}

    def observe(self, agent):
        return [float(self.count[agent])]

    def step(self, action):
        me = self.agent_selection
        if self.terminations[me] or self.truncations[me]:
            assert action is None
            for each in (self.terminations, self.truncations, self.rewards, self.infos):
                del each[me]
            self.agents.remove(me)
        else:
            self.count[me] += 1
            self.rewards = {name: 1 if name == me else -2 for name in self.agents}
            self.terminations[me] = action == 1
            self.truncations[me] = self.count[me] == 3
        if self.agents:
            at = self.possible_agents.index(me)
            other = self.possible_agents[1 - at]
            self.agent_selection = other if other in self.agents else self.agents[0]
)";

TEST_CASE("PettingZoo's agents in turns are taken as they are", "[unit][env][python]") {
  Written written(kAec);
  const PythonTask task(written.config());
  CHECK(task.spec().observation.agents == 2);
  CHECK(task.spec().observation.globals.size() == 1);
  CHECK(task.spec().num_actions() == 2);
  const auto env = task.make_factory()();
  const auto look = [&] {
    Observations shown = task.spec().make_observations();
    env->observe(shown);
    return std::pair(env->agent(), shown.globals(0)[0]);
  };
  env->reset(Seed{1});
  CHECK(look() == std::pair(0, 0.0F));
  CHECK(env->step(0).reward == 1);
  CHECK(look() == std::pair(1, 0.0F));
  CHECK_FALSE(env->step(1).final());  // the right one leaves
  REQUIRE(env->other_rewards().size() == 1);
  CHECK(env->other_rewards()[0] == AgentReward{0, -2});
  CHECK(look() == std::pair(0, 1.0F));
  CHECK_FALSE(env->step(0).final());
  CHECK(look() == std::pair(0, 2.0F));
  const StepResult last = env->step(0);
  CHECK(last.truncated);
  Observations beyond = task.spec().make_observations();
  env->observe_last(0, beyond);
  CHECK(beyond.globals(0)[0] == 3);
  CHECK_FALSE(env->has_left(0));
  CHECK(env->has_left(1));  // long ago, and by itself: what follows is nothing

  env->reset(Seed{2});
  CHECK_FALSE(env->has_left(1));
  static_cast<void>(env->step(1));
  CHECK(env->step(1).terminated);

  env->reset(Seed{3});  // one ends what the other is cut off from before
  for (const int action : {0, 0, 0, 0, 0}) REQUIRE_FALSE(env->step(action).final());
  CHECK(look() == std::pair(1, 2.0F));
  CHECK(env->step(1).truncated);
  CHECK_FALSE(env->has_left(0));
  CHECK(env->has_left(1));
  CHECK(env->clone()->has_left(1));
}

TEST_CASE("actions that are known by their places have constants to compare with",
          "[unit][env][python]") {
  const Written written(simple("return [1.0], 1.0, True, False, {'action_mask': [1, 0]}",
                               "return [0.0], {'action_mask': [0, 1]}"));
  const auto env = written.environment();
  env->reset(Seed{1});
  Written same = Written(simple("return [1.0], 1.0, True, False, {}"));
  const PythonTask task(same.config());
  CHECK(compared_agents(task) == std::vector<std::string>{"constant:0", "constant:1", "random"});
  CHECK(task.make_agent("constant:0")->act(*env) == 1);  // 0 is not allowed
  CHECK_THROWS_WITH(task.make_agent("constant:2"), Catch::Contains("from 0 to 1"));
  CHECK_THROWS_WITH(task.make_agent("constnt:1"), Catch::Contains("did you mean 'constant'?"));
  CHECK(task.spec().objective().name == "return");
}

TEST_CASE("an environment in Python is told nothing where a setting is nothing",
          "[unit][env][python]") {
  Written written(std::string("    def __init__(self, mode, shape):\n"
                              "        assert mode is None and shape == [3, 4]\n") +
                  simple("pass"));
  const auto read = [](const std::string& text) {
    return read_config<PythonConfig>(ConfigSource::from_text("a.yaml", text));
  };
  const PythonConfig& where = written.config();
  const PythonConfig config =
      read("file: " + where.file + "\nmake: T\ninterpreter: " + where.interpreter +
           "\nsettings: {mode: null, shape: '[3, 4]'}\n");
  CHECK(config.settings.at("mode") == std::nullopt);
  CHECK(read(dump_config(config)) == config);
  CHECK_THROWS_WITH(read("settings: {shape: [3, 4]}\n"),
                    Catch::Contains("settings.shape: expected text, found a list"));
}

TEST_CASE("what cannot be is said in one sentence with the task's name", "[unit][env][python]") {
  const auto refusal = [](const std::string& body) { return Written(body).refusal(); };
  const auto step = [&](const std::string& body) { return refusal(simple(body)); };
  CHECK(step("return [1.0], 1, True, False, {}") == "none");
  CHECK(step("return 1 / 0") == "task.py, T: step: ZeroDivisionError: division by zero");
  CHECK(step("raise SystemExit('no licence')") == "task.py, T: step: SystemExit: no licence");
  CHECK(step("raise OSError('no file caf\\udce9')") == "task.py, T: step: OSError: no file caf?");
  CHECK(step("raise OSError('caf\u00e9')") == "task.py, T: step: OSError: caf\u00e9");
  CHECK(step("return [1.0], 1, False, False, {'agent': 0.5}") ==
        "task.py, T: step: agents are whole numbers, not 0.5");
  CHECK(step("return [1.0], 1, False, False, {'agent': 0.0}") == "none");
  CHECK(step("return [1.0, 2.0], 1, False, False, {}") ==
        "task.py, T shows 2 globals, and says that they are 1");
  CHECK(step("return [float('nan')], 1, False, False, {}") ==
        "task.py, T: step: globals hold a number that is not finite");
  CHECK(step("return [1.0], float('inf'), False, False, {}") ==
        "task.py, T: step: rewards hold a number that is not finite");
  CHECK(step("return [1.0], 1e39, False, False, {}") ==
        "task.py, T shows a reward beyond what float32 holds");
  CHECK(step("return [1.0], [1.0, 5.0], False, False, {}") ==
        "task.py, T: step: rewards are single numbers, not 2");
  CHECK(step("return [1.0], 1, False, False, {'elapsed': float('nan')}") ==
        "task.py, T: step: elapsed times hold a number that is not finite");
  CHECK(step("return [1.0], 1, 'no', False, {}") ==
        "task.py, T: step: what step returns third and fourth are true or false, 1 or 0, not 'no'");
  CHECK(step("return [1.0], 1, False, None, {}") ==
        "task.py, T: step: what step returns third and fourth are true or false, 1 or 0, not None");
  CHECK(step("return [1.0], 1, False, False, {'action_mask': '00'}") ==
        "task.py, T: step: masks are true or false, 1 or 0, not '0'");
  CHECK(step("return [1.0], 1, False, False, {'action_mask': [[1, 0]]}") ==
        "task.py, T: step: masks are true or false, 1 or 0, not [1, 0]");
  CHECK(step("return [1.0], 1, False, False, {'action_mask': [0, 0]}") ==
        "task.py, T shows a decision without an action");
  CHECK(step("return [1.0], 1, False, False, {'action_mask': [1, 1, 1]}") ==
        "task.py, T shows a mask of 3 entries for 2 candidates");
  CHECK(step("return [1.0], 1, False, False, {'elapsed': 0}") ==
        "task.py, T shows an elapsed time that is not above 0");
  CHECK_THAT(step("return [1.0], 1"), Catch::StartsWith("task.py, T: step: ValueError: "));
  CHECK_THAT(refusal("    pass\n"), Catch::Contains("has neither actions nor candidates nor an"));
  CHECK_THAT(refusal("    actions = 2\n"), Catch::Contains("T has no method reset"));
  CHECK_THAT(refusal("    actions = 2\n  x = 3\n"), Catch::Contains("IndentationError"));
  CHECK_THAT(refusal("    metrics = [{'nam': 1}]\n" + simple("pass")),
             Catch::Contains("is no name and no mapping of name"));
  CHECK_THAT(refusal("    metrics = [{'name': 'm', 'better': 'more'}]\n" + simple("pass")),
             Catch::Contains("the metric m is better neither lower nor higher: more"));
  CHECK_THAT(refusal("    globals = ['x', 'x']\n    actions = 2\n"
                     "    def reset(self): pass\n    def step(self): pass\n"),
             Catch::Contains("globals: two are named x"));
  for (const std::string name : {"random", "best_constant", "constant"}) {
    CHECK_THAT(refusal("    baselines = {'" + name + "': lambda self: 0}\n" + simple("pass")),
               Catch::Contains("the baseline " + name + " needs another name"));
  }
  for (const std::string name : {"constant:1", "a,b", "greedy:2", "x+search", "baselines", ""}) {
    CHECK_THAT(refusal("    baselines = {'" + name + "': lambda self: 0}\n" + simple("pass")),
               Catch::Contains("the baseline \"" + name + "\" needs another name, without"));
  }
  CHECK(refusal("    metrics = ['m']\n" + simple("return [1.0], 1, True, False, {}")) == "none");
}

TEST_CASE("metrics that are promised are given", "[unit][env][python]") {
  const Written written("    metrics = ['m']\n" + simple("return [1.0], 1, True, False, {}"));
  const auto env = written.environment();
  env->reset(Seed{1});
  CHECK_THROWS_WITH(env->summary(), Catch::Contains("summary() lacks m, which metrics name"));
}

TEST_CASE("whoever waits for an environment's answer beats, as long as it has time",
          "[unit][env][python]") {
  const testing::TempDir folder;
  const std::filesystem::path sign = folder.path() / "go on";
  const Written slow(simple("while not os.path.exists('" + sign.string() +
                            "'): time.sleep(0.01)\n        return [1.0], 1, True, False, {}"));
  const auto env = slow.environment();
  env->reset(Seed{1});
  int beats = 0;
  const Chore lets_go(Duration{0}, [&] {
    if (++beats == 3) std::ofstream(sign) << "now";
  });
  CHECK(env->step(0).reward == 1);
  CHECK(beats >= 3);
}

TEST_CASE("an environment that does not come back, or ends Python, ends the call",
          "[unit][env][python]") {
  Written slow(simple("time.sleep(1000)"));
  slow.config().answer_seconds = 3;
  CHECK(slow.refusal() == "task.py, T: step took too long (env.answer_seconds)");

  // What comes late is not taken for the answer to what is asked next.
  const auto waited_for = slow.environment();
  waited_for->reset(Seed{1});
  CHECK_THROWS_WITH(waited_for->step(0), Catch::EndsWith("took too long (env.answer_seconds)"));
  CHECK_THROWS_AS(waited_for->reset(Seed{1}), TryAgainError);

  const Written gone(simple("os._exit(5)"));
  const auto env = gone.environment();
  env->reset(Seed{1});
  try {
    static_cast<void>(env->step(0));
    FAIL("it is gone");
  } catch (const TryAgainError& error) {
    CHECK(error.what() == std::string("the Python process of task.py, T ended with code 5"));
  }
}

TEST_CASE("what an interpreter has started ends with it, however it ends", "[unit][env][python]") {
  const testing::TempDir folder;
  const std::string file = (folder.path() / "pid").string();
  const std::string starts =
      "pid = os.fork()\n        if not pid: time.sleep(1000)\n"
      "        print(pid, file=open('" +
      file + "', 'w'))\n        ";
  const auto started = [&file] {
    pid_t pid = 0;
    std::ifstream(file) >> pid;
    REQUIRE(pid > 0);
    return pid;
  };
  SECTION("by itself") {
    const Written gone(simple(starts + "os._exit(5)"));
    const auto env = gone.environment();
    env->reset(Seed{1});
    CHECK_THROWS_WITH(env->step(0), Catch::EndsWith("ended with code 5"));
    testing::wait_until("it has ended, too", [&] { return testing::has_ended(started()); });
  }
  SECTION("as nobody asks it any more") {
    const Written written(simple(starts + "return [1.0], 1, False, False, {}"));
    auto env = written.environment();
    env->reset(Seed{1});
    static_cast<void>(env->step(0));
    REQUIRE_FALSE(testing::has_ended(started()));
    env.reset();
    testing::wait_until("it has ended, too", [&] { return testing::has_ended(started()); });
  }
}

TEST_CASE("a fork neither asks nor ends the Python of the process that it comes from",
          "[unit][env][python]") {
  const Written written(simple("return [1.0], 1.0, False, False, {}"));
  auto env = written.environment();
  env->reset(Seed{1});
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 1;
    try {
      static_cast<void>(env->step(0));
    } catch (const UserError&) {
      code = 0;
    }
    env.reset();  // as at its end
    ::_exit(code);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(env->step(0).reward == 1);
}

TEST_CASE("a task in Python that is mended is read anew", "[unit][env][python]") {
  const testing::TempDir folder;
  PythonConfig config;
  config.file = (folder / "task.py").string();
  config.make = "T";
  config.interpreter = "/usr/bin/python3";
  std::ofstream(folder / "task.py") << "class T\n";
  CHECK_THAT(validate(config).front(), Catch::Contains("SyntaxError"));
  std::ofstream(folder / "task.py") << "class T:\n" + simple("return [1.0], 1, True, False, {}");
  // Clocks of file systems may stand still for some milliseconds.
  std::filesystem::last_write_time(
      config.file, std::filesystem::last_write_time(config.file) + std::chrono::seconds(1));
  CHECK(validate(config).empty());
}

TEST_CASE("an error of a task in Python is forgotten, as what was missing may be there by now",
          "[unit][env][python]") {
  Written written("    import needed\n" + simple("return [1.0], 1, True, False, {}"));
  const PythonConfig& config = written.config();
  REQUIRE_THAT(validate(config).front(), Catch::Contains("No module named 'needed'"));
  std::ofstream(std::filesystem::path(config.file).parent_path() / "needed.py") << "\n";
  testing::wait_until("the task is asked again", [&] { return validate(config).empty(); });
}

TEST_CASE("a task of a Python module is read anew where the file that defines it was edited",
          "[unit][env][python]") {
  const testing::TempDir folder;
  const std::filesystem::path package = folder / "pacml_test_package";
  const std::filesystem::path file = package / "inner.py";
  std::filesystem::create_directory(package);
  std::ofstream(package / "__init__.py") << "from pacml_test_package.inner import T\n";
  std::ofstream(file) << "class T:\n" + simple("return [1.0], 1, True, False, {}");
  ::setenv("PYTHONPATH", folder.path().c_str(), 1);
  PythonConfig config;
  config.module = "pacml_test_package";
  config.make = "T";
  config.interpreter = "/usr/bin/python3";
  CHECK(observation_spec(config).globals.size() == 1);
  const auto written = std::filesystem::last_write_time(file);
  std::ofstream(file, std::ios::app) << "    globals = ['x', 'y']\n";
  // Clocks of file systems may stand still for some milliseconds.
  std::filesystem::last_write_time(file, written + std::chrono::seconds(1));
  CHECK(observation_spec(config).globals.size() == 2);
  ::unsetenv("PYTHONPATH");
}

TEST_CASE("a Python that ends while its task is asked what it is may go well another time",
          "[unit][env][python]") {
  const testing::TempDir folder;
  const std::filesystem::path sign = folder.path() / "go on";
  Written dies("    if not os.path.exists('" + sign.string() + "'): os._exit(5)\n" +
               simple("return [1.0], 1, True, False, {}"));
  CHECK_THROWS_AS(validate(dies.config()), TryAgainError);
  CHECK_THROWS_AS(dies.environment(), TryAgainError);
  std::ofstream(sign) << "now";
  CHECK(validate(dies.config()).empty());
}

TEST_CASE("environments of Gymnasium may call other things actions and agents",
          "[unit][env][python]") {
  const std::string body =
      "    class Discrete:\n        n, start = 3, 0\n"
      "    agents = ['me']\n    globals = ['x']\n    actions = {'left': 0}\n"
      "    def reset(self, *, seed):\n        return [0.5], {}\n"
      "    def step(self, action):\n        return [0.5], 1, True, False, {}\n";
  Written written(body + "    action_space = Discrete()\n");
  const PythonTask task(written.config());
  CHECK(task.spec().num_actions() == 3);
  CHECK(task.spec().observation.agents == 1);
  CHECK_THAT(
      Written(body + "    agents = 2\n").refusal(),
      Catch::Contains("actions are how many there are to choose from, a whole number, not "));
}

TEST_CASE("a Python task says what its configuration lacks", "[unit][env][python]") {
  CHECK_FALSE(TaskConfig("python").is_valid());
  const auto first_problem = [](const PythonConfig& config) { return validate(config).front(); };
  CHECK_THAT(first_problem({}), Catch::StartsWith("file: the task python needs a file of Python"));
  PythonConfig config;
  config.file = "/nowhere.py";
  config.module = "nowhere";
  CHECK_THAT(first_problem(config), Catch::StartsWith("file: and module are both given"));
  config.module.clear();
  config.make = "T";
  config.interpreter = "/usr/bin/python3";
  CHECK_THAT(first_problem(config), Catch::Contains("there is no file /nowhere.py"));
  config.file.clear();
  config.module = "no_such_module";
  CHECK_THAT(first_problem(config),
             Catch::StartsWith("module: ") && Catch::Contains("No module named 'no_such_module'"));
  config.module = "random";
  CHECK_THAT(first_problem(config),
             Catch::Contains("random defines nothing to call of the name T"));
  config.interpreter = "/no/python";
  CHECK_THAT(first_problem(config), Catch::Contains("/no/python (env.interpreter)"));
}

TEST_CASE("where a task's file lies is no part of what it is", "[unit][env][python]") {
  const auto config_at = [](const std::string& file) {
    TaskConfig config("python");
    config.as<PythonConfig>().file = file;
    return config;
  };
  TaskConfig here = config_at("a/../b/task.py");
  here.make_paths_absolute();
  CHECK(here.as<PythonConfig>().file == (std::filesystem::current_path() / "b/task.py").string());
  TaskConfig there = config_at("/somewhere/else/task.py");
  CHECK_FALSE(here == there);
  here.forget_folders();
  there.forget_folders();
  CHECK(here == there);
}

}  // namespace
}  // namespace pacml::env
