#include "planning/search_agent.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "env/tasks/partitioning/environment.h"
#include "env/tasks/placement_shaping/environment.h"
#include "tests/support/always_agent.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/plain_observations.h"
#include "tests/support/scripted_environment.h"
#include "tests/support/signal_chain.h"
#include "tests/support/temp_dir.h"

namespace pacml::planning {
namespace {

constexpr int kNever = 1'000'000;

// What a chain shows: its coin, and where the walker is.
std::pair<int, int> seen(const env::Environment& environment) {
  Observations row = environment.spec().make_observations();
  environment.observe(row);
  int place = 0;
  while (row.globals(0)[static_cast<std::size_t>(place)] == 0) ++place;
  return {row.graph(0), place};
}

// Always forward, which is best; says what it is told to of everything else.
class Forward final : public RolloutPolicy {
 public:
  explicit Forward(double value = 0, std::optional<std::vector<float>> likely = {})
      : value_(value), likely_(std::move(likely)) {}
  void act(std::span<const env::Environment* const> environments, std::span<int> actions) override {
    for (std::size_t i = 0; i < environments.size(); ++i) actions[i] = seen(*environments[i]).first;
  }
  void evaluate(std::span<const env::Environment* const> environments,
                std::span<double> values) override {
    for (std::size_t i = 0; i < environments.size(); ++i) values[i] = value_;
  }
  std::optional<std::vector<float>> log_probabilities(
      const env::Environment& /*environment*/) override {
    return likely_;
  }
  std::optional<std::vector<double>> action_values(
      const env::Environment& /*environment*/) override {
    return std::vector<double>{-100, 0, 100};
  }

 private:
  double value_;
  std::optional<std::vector<float>> likely_;
};

SearchAgent agent_of(const SearchConfig& config, double value = 0,
                     std::optional<std::vector<float>> likely = {}) {
  return SearchAgent(config, std::make_unique<Forward>(value, std::move(likely)));
}

TEST_CASE("an action is worth what follows it in the futures", "[planning]") {
  constexpr double kDiscount = 0.9;
  env::SignalChain chain(kNever);
  SearchAgent agent = agent_of({.futures = 5, .horizon = 10, .discount = kDiscount});
  const auto best = [](int place) { return env::SignalChain::best_value(place, kDiscount); };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    chain.reset(Seed{seed});
    agent.reset(Seed{seed});
    const auto [coin, place] = seen(chain);
    CHECK(agent.act(chain) == coin);
    CHECK(agent.futures() == 5);
    REQUIRE(agent.tried().size() == (place == 0 ? 3U : 2U));
    for (const auto& [action, value, futures] : agent.tried()) {
      CHECK(futures == 5);
      INFO("place " << place << ", action " << action);
      if (action == env::SignalChain::kDecoyAction) {
        CHECK(value == Approx(env::SignalChain::kDecoy));
      } else if (action == coin) {
        CHECK(value == Approx(best(place)));
      } else {
        CHECK(value == Approx(kDiscount * best(place > 0 ? place - 1 : 0)));
      }
    }
  }
}

// Of its three actions, each of which pays its number, it shows two. Either each ends the
// episode, or none does and each takes two units of time.
class HiddenDoor final : public env::Environment {
 public:
  explicit HiddenDoor(bool ends) : ends_(ends) {
    spec_.task = "hidden_door";
    spec_.observation = plain_spec(1, 2);
  }
  [[nodiscard]] const env::EnvironmentSpec& spec() const override { return spec_; }
  void reset(Seed /*seed*/) override {}
  [[nodiscard]] env::StepResult step(int action) override {
    return {static_cast<float>(action), ends_, false, ends_ ? 1.0F : 2.0F};
  }
  [[nodiscard]] bool takes(int action) const override { return action >= 0 && action < 3; }
  void observe(Observations& out) const override {
    append_plain(out, 0, std::vector<float>{0}, std::vector<std::uint8_t>{1, 1});
  }
  [[nodiscard]] std::unique_ptr<Environment> clone() const override {
    return std::make_unique<HiddenDoor>(*this);
  }
  [[nodiscard]] bool resample_future(Seed /*seed*/) override { return true; }
  [[nodiscard]] EpisodeRecord summary() const override { return {}; }

 private:
  bool ends_;
  env::EnvironmentSpec spec_;
};

TEST_CASE("a search over a rule tries what the rule does, also where it is not shown",
          "[planning]") {
  HiddenDoor door(true);
  const auto tried_over = [&door](int rule) {
    SearchAgent agent({.futures = 2, .horizon = 1},
                      make_rule_policy(std::make_unique<testing::AlwaysAgent>(rule)));
    const int taken = agent.act(door);
    return std::pair(taken, agent.tried().size());
  };
  CHECK(tried_over(2) == std::pair(2, std::size_t{3}));
  CHECK(tried_over(0) == std::pair(1, std::size_t{2}));
}

TEST_CASE("what a unit of time pays on average is taken off what an action is worth",
          "[planning]") {
  constexpr double kRate = 0.25;
  env::SignalChain chain(kNever);
  SearchAgent agent =
      agent_of({.futures = 3, .horizon = 1, .discount = 0.5, .reward_rate = kRate}, 8);
  SearchAgent plain = agent_of({.futures = 3, .horizon = 1, .discount = 0.5}, 8);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    chain.reset(Seed{seed});
    static_cast<void>(agent.act(chain));
    static_cast<void>(plain.act(chain));
    REQUIRE(agent.tried().size() == plain.tried().size());
    for (std::size_t i = 0; i < agent.tried().size(); ++i) {
      CHECK(agent.tried()[i].value == Approx(plain.tried()[i].value - kRate));
    }
  }
}

TEST_CASE("a search measures what its policy gets in a unit of time, if it is to", "[planning]") {
  HiddenDoor endless(false);
  SearchConfig config{.futures = 3, .horizon = 4, .reward_rate = 7, .measures_rate = true};
  const auto worth = [](const SearchAgent& agent) {
    std::vector<double> values;
    for (const auto& tried : agent.tried()) values.push_back(tried.value);
    return values;
  };
  SearchAgent agent(config, make_rule_policy(std::make_unique<testing::AlwaysAgent>(1)));
  agent.reset(Seed{1});
  CHECK(agent.reward_rate() == 7);  // it is told until there have been futures
  CHECK(agent.act(endless) == 1);
  CHECK(worth(agent) == std::vector<double>{3 - 8 * 7, 4 - 8 * 7});
  CHECK(agent.reward_rate() == 0.5);
  CHECK(agent.act(endless) == 1);
  CHECK(worth(agent) == std::vector<double>{-1, 0});
  agent.reset(Seed{1});
  CHECK(agent.reward_rate() == 7);

  config.measures_rate = false;
  SearchAgent told(config, make_rule_policy(std::make_unique<testing::AlwaysAgent>(1)));
  CHECK(told.act(endless) == 1);
  CHECK(told.act(endless) == 1);
  CHECK(worth(told) == std::vector<double>{3 - 8 * 7, 4 - 8 * 7});
}

TEST_CASE("behind the horizon counts what the policy expects, unless the episode has ended",
          "[planning]") {
  const bool cut = GENERATE(false, true);
  env::SignalChain chain(cut ? 1 : kNever);
  // Cut by a limit after one step, or by the horizon: either way something would have followed.
  SearchAgent agent = agent_of({.futures = 3, .horizon = cut ? 10 : 1, .discount = 0.5}, 8);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    chain.reset(Seed{seed});
    agent.reset(Seed{seed});
    const auto [coin, place] = seen(chain);
    static_cast<void>(agent.act(chain));
    for (const auto& [action, value, futures] : agent.tried()) {
      const bool ends = action == env::SignalChain::kDecoyAction ||
                        (action == coin && place + 1 == env::SignalChain::kLength);
      const double reward = action == env::SignalChain::kDecoyAction ? env::SignalChain::kDecoy : 1;
      CHECK(value == Approx(ends ? reward : 0.5 * 8));
    }
  }
}

TEST_CASE("only what the policy finds likely is tried, and a single action needs no search",
          "[planning]") {
  env::SignalChain chain(kNever);
  chain.reset(Seed{1});
  while (seen(chain).second != 0) static_cast<void>(chain.step(1 - seen(chain).first));
  const std::vector<float> likely = {-1, -3, -1.5F};
  const auto tried = [&](double gap) {
    SearchAgent agent = agent_of({.futures = 2, .horizon = 3, .gap = gap}, 0, likely);
    agent.reset(Seed{1});
    static_cast<void>(agent.act(chain));
    std::vector<int> actions;
    for (const auto& each : agent.tried()) actions.push_back(each.action);
    return actions;
  };
  CHECK(tried(3) == std::vector{0, 1, 2});
  CHECK(tried(1) == std::vector{0, 2});
  CHECK(tried(0.1).empty());  // one is left
  SearchAgent agent = agent_of({.gap = 0.1}, 0, likely);
  agent.reset(Seed{1});
  CHECK(agent.act(chain) == 0);
  CHECK(agent.futures() == 0);
}

TEST_CASE("what the policy says of its actions counts as much as is asked for", "[planning]") {
  env::SignalChain chain(kNever);
  chain.reset(Seed{1});
  while (seen(chain).second != 0) static_cast<void>(chain.step(1 - seen(chain).first));
  const auto worth = [&](double weight) {
    SearchAgent agent = agent_of({.futures = 2, .horizon = 10, .discount = 0.9, .weight = weight});
    agent.reset(Seed{1});
    const int action = agent.act(chain);
    std::vector<double> values;
    for (const auto& each : agent.tried()) values.push_back(each.value);
    return std::pair{action, values};
  };
  const auto [best, rollouts] = worth(1);
  CHECK(best == seen(chain).first);
  const auto [own_best, own] = worth(0);
  CHECK(own_best == 2);
  CHECK(own == std::vector<double>{-100, 0, 100});
  const auto mixed = worth(0.25).second;
  for (std::size_t a = 0; a < 3; ++a) {
    CHECK(mixed[a] == Approx(0.25 * rollouts[a] + 0.75 * own[a]));
  }
}

TEST_CASE("an action that is behind is tried no further, and none runs alone", "[planning]") {
  env::SignalChain chain(kNever);
  chain.reset(Seed{1});
  while (seen(chain).second != 0) static_cast<void>(chain.step(1 - seen(chain).first));
  const auto futures = [&](double race) {
    SearchAgent agent = agent_of({.futures = 100, .horizon = 10, .discount = 0.9, .race = race});
    agent.reset(Seed{1});
    CHECK(agent.act(chain) == seen(chain).first);
    std::vector<int> out;
    for (const auto& each : agent.tried()) out.push_back(each.futures);
    return out;
  };
  // They always come to the same: a first round shows it.
  CHECK(futures(2.5) == std::vector{8, 8, 8});
  CHECK(futures(std::numeric_limits<double>::infinity()) == std::vector{100, 100, 100});
}

TEST_CASE("a decision ends with the future in which its time is up", "[planning]") {
  ManualClock clock;
  class Slow final : public RolloutPolicy {
   public:
    explicit Slow(ManualClock& clock) : clock_(clock) {}
    void act(std::span<const env::Environment* const> environments,
             std::span<int> actions) override {
      clock_.advance(std::chrono::milliseconds(10));
      for (std::size_t i = 0; i < environments.size(); ++i) {
        actions[i] = seen(*environments[i]).first;
      }
    }
    void evaluate(std::span<const env::Environment* const> /*environments*/,
                  std::span<double> values) override {
      for (double& value : values) value = 0;
    }
    std::optional<std::vector<float>> log_probabilities(
        const env::Environment& /*environment*/) override {
      return std::nullopt;
    }

   private:
    ManualClock& clock_;
  };
  SearchAgent agent({.futures = 1000, .horizon = 2, .seconds = 0.025},
                    std::make_unique<Slow>(clock), clock);
  env::SignalChain chain(kNever);
  chain.reset(Seed{1});
  while (seen(chain).second != 1) static_cast<void>(chain.step(1 - seen(chain).first));
  agent.reset(Seed{1});
  static_cast<void>(agent.act(chain));
  CHECK(agent.futures() == 2);  // and what is likely was asked, within the same time
}

TEST_CASE("a future that is given cannot be searched", "[planning]") {
  env::ScriptedEnvironment scripted;
  scripted.reset(Seed{4});
  SearchAgent agent({}, std::make_unique<Forward>());
  agent.reset(Seed{4});
  CHECK_THROWS_WITH(
      agent.act(scripted),
      "a search needs other futures than the true one, and this episode's jobs leave none to draw");
}

// A small busy cluster.
env::PartitioningConfig busy() {
  env::PartitioningConfig c;
  c.profiles = testing::source_path("tests/golden/env/graphs").string();
  c.workload.replication_factor = 20;
  c.workload.interarrival = {.kind = env::DistributionKind::kUniform, .min = 20, .max = 80};
  c.workload.requirement.kind = env::DistributionKind::kUniform;
  c.cluster.max_simulation_time = 4000;
  return c;
}

// A record of a hundred jobs like those.
std::string record_of(const env::PartitioningConfig& config, const testing::TempDir& folder) {
  const env::PartitioningTask task(config);
  env::JobStream jobs(task.plan(), Seed{1});
  std::ofstream out(folder / "jobs.csv");
  out << "arrival,model,fraction\n";
  double arrival = 0;
  for (int n = 0; n < 100; ++n) {
    const env::ArrivingJob job = jobs.next();
    out << arrival << "," << task.graphs()[static_cast<std::size_t>(job.model)]->model() << ","
        << job.fraction << "\n";
    arrival += jobs.next_interarrival(arrival);
  }
  return (folder / "jobs.csv").string();
}

SearchAgent over_rule(const env::Task& task, const std::string& rule, const SearchConfig& config) {
  return SearchAgent(config, make_rule_policy(task.make_agent(rule)));
}

double blocked_by(env::Environment& environment, env::Agent& agent, Seed seed) {
  environment.reset(seed);
  agent.reset(seed);
  while (!environment.step(agent.act(environment)).final()) {
  }
  return environment.spec().metric(environment.summary(), "blocking_rate");
}

TEST_CASE("a search never sees the true future", "[planning]") {
  env::PartitioningConfig config = busy();
  const testing::TempDir folder;
  if (GENERATE(false, true)) config.workload.recorded.file = record_of(config, folder);
  const auto task = std::make_shared<const env::PartitioningTask>(config);
  const auto factory = task->make_factory();
  const auto world = factory();
  world->reset(Seed{5});
  SearchAgent agent = over_rule(*task, "min_feasible", {.futures = 4, .horizon = 6});
  agent.reset(Seed{5});
  SearchAgent twin = over_rule(*task, "min_feasible", {.futures = 4, .horizon = 6});
  twin.reset(Seed{5});
  for (int step = 0; step < 30; ++step) {
    // The same past, another truth.
    const auto other = world->clone();
    REQUIRE(other->resample_future(Seed{static_cast<std::uint64_t>(1000 + step)}));
    const int action = agent.act(*world);
    REQUIRE(twin.act(*other) == action);
    REQUIRE(agent.tried().size() == twin.tried().size());
    for (std::size_t i = 0; i < agent.tried().size(); ++i) {
      REQUIRE(agent.tried()[i].value == twin.tried()[i].value);
    }
    if (world->step(action).final()) break;
  }
}

Observations row_of(const env::Environment& environment) {
  Observations row = environment.spec().make_observations();
  environment.observe(row);
  return row;
}

// Decides, and expects, by all the numbers that are observed: whatever gets into one counts.
class ByObservation final : public RolloutPolicy {
 public:
  void act(std::span<const env::Environment* const> environments, std::span<int> actions) override {
    for (std::size_t i = 0; i < environments.size(); ++i) {
      const Observations row = row_of(*environments[i]);
      // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): one choice is valid at least
      auto left = static_cast<std::size_t>(std::abs(sum_of(row)) * 1e4) % row.num_valid(0);
      int action = 0;
      while (row.mask(0)[static_cast<std::size_t>(action)] == 0 || left-- > 0) ++action;
      actions[i] = action;
    }
  }
  void evaluate(std::span<const env::Environment* const> environments,
                std::span<double> values) override {
    for (std::size_t i = 0; i < environments.size(); ++i) {
      values[i] = sum_of(row_of(*environments[i]));
    }
  }
  std::optional<std::vector<float>> log_probabilities(
      const env::Environment& /*environment*/) override {
    return std::nullopt;
  }

 private:
  static double sum_of(const Observations& row) {
    double sum = 0;
    for (const float value : row.globals(0)) sum += value;
    return sum;
  }
};

SearchAgent by_observation() {
  return SearchAgent({.futures = 4, .horizon = 6}, std::make_unique<ByObservation>());
}

// Jobs of a record, of which the first 70 are known. No two have one fraction, those that are known
// from 0.3 to 0.6.
struct Truth {
  struct Job {
    std::size_t model = 0;
    double fraction = 0;
    double gap = 0;
  };
  std::vector<Job> jobs;

  static constexpr std::size_t kKnown = 70;
  static constexpr std::size_t kJobs = 100;

  static Truth plain() {
    Truth truth;
    for (std::size_t n = 0; n < kJobs; ++n) {
      truth.jobs.push_back(
          {n % 2, 0.3 + 0.003 * static_cast<double>(n), 20 + static_cast<double>(n * 7 % 60)});
    }
    return truth;
  }
  // Of what is not known, all but the jobs [first, last] are others, and come at other times.
  [[nodiscard]] Truth with_other_future(std::size_t first, std::size_t last) const {
    Truth other = *this;
    for (std::size_t n = kKnown; n < kJobs; ++n) {
      Job& job = other.jobs[n];
      if (n >= first && n <= last) continue;
      job = {1 - job.model, n % 3 == 0 ? 0.01 + 1e-5 * static_cast<double>(n) : 1 - job.fraction,
             3 * job.gap};
    }
    return other;
  }
  // The job of the rest that is decided upon.
  [[nodiscard]] std::size_t waiting(const env::Environment& environment) const {
    constexpr std::size_t kFraction = 5;
    const float fraction = row_of(environment).globals(0)[kFraction];
    for (std::size_t n = kKnown; n < kJobs; ++n) {
      if (static_cast<float>(jobs[n].fraction) == fraction) return n;
    }
    FAIL("no such job");
    return 0;
  }
  [[nodiscard]] std::unique_ptr<env::Environment> play(const testing::TempDir& folder) const {
    env::PartitioningConfig config = busy();
    config.workload.recorded = {
        .file = (folder / "truth.csv").string(), .known = 0.7, .part = env::RecordPart::kRest};
    const auto models = env::PartitioningTask(busy()).spec().graph_names;
    std::ofstream out(config.workload.recorded.file);
    out << "arrival,model,fraction\n";
    double arrival = 0;
    for (const Job& job : jobs) {
      arrival += job.gap;
      out << arrival << "," << models[job.model] << "," << job.fraction << "\n";
    }
    out.close();
    return std::make_shared<const env::PartitioningTask>(config)->make_factory()();
  }
};

TEST_CASE("a record's jobs that are to come change nothing that is seen or decided before",
          "[planning]") {
  constexpr std::size_t kSteps = 4;
  const testing::TempDir folder;
  const Truth truth = Truth::plain();
  const auto world = truth.play(folder);
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 12 && compared < 3; ++seed) {
    world->reset(Seed{seed});
    const std::size_t first = truth.waiting(*world);
    if (first + kSteps >= Truth::kJobs) continue;  // where it begins anew, the mean is a gap
    ++compared;
    SearchAgent agent = by_observation();
    agent.reset(Seed{seed});
    std::vector<int> past;
    for (std::size_t step = 0; step < kSteps; ++step) {
      const auto other = truth.with_other_future(first, first + step).play(folder);
      other->reset(Seed{seed});
      SearchAgent twin = by_observation();
      twin.reset(Seed{seed});
      for (const int action : past) {
        REQUIRE(twin.act(*other) == action);
        static_cast<void>(other->step(action));
      }
      const Observations here = row_of(*world);
      REQUIRE(std::ranges::equal(here.globals(0), row_of(*other).globals(0)));
      const int action = agent.act(*world);
      REQUIRE(twin.act(*other) == action);
      REQUIRE(agent.tried().size() == twin.tried().size());
      for (std::size_t i = 0; i < agent.tried().size(); ++i) {
        REQUIRE(agent.tried()[i].value == twin.tried()[i].value);
      }
      // The truth is another one.
      static_cast<void>(other->step(action));
      static_cast<void>(world->step(action));
      CHECK_FALSE(std::ranges::equal(row_of(*world).globals(0), row_of(*other).globals(0)));
      past.push_back(action);
    }
  }
  CHECK(compared == 3);
}

TEST_CASE("a search over a rule blocks fewer jobs than the rule", "[planning]") {
  const auto task = std::make_shared<const env::PartitioningTask>(busy());
  const auto environment = task->make_factory()();
  for (const std::string rule : {"min_feasible", "para_max"}) {
    INFO(rule);
    double alone = 0;
    double searched = 0;
    SearchAgent agent = over_rule(*task, rule, {.futures = 16, .horizon = 20});
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      alone += blocked_by(*environment, *task->make_agent(rule), Seed{seed});
      searched += blocked_by(*environment, agent, Seed{seed});
    }
    CHECK(searched < 0.95 * alone);
    SearchAgent again = over_rule(*task, rule, {.futures = 16, .horizon = 20});
    CHECK(blocked_by(*environment, again, Seed{3}) == blocked_by(*environment, agent, Seed{3}));
  }
}

TEST_CASE("what is searched may be any task", "[planning]") {
  env::PlacementShapingConfig config;
  // NOLINTNEXTLINE(cppcoreguidelines-slicing): what the tasks have in common
  static_cast<env::RampTaskConfig&>(config) = busy();
  config.joint = true;
  config.max_blocks = 8;
  const auto task = std::make_shared<const env::PlacementShapingTask>(config);
  const auto environment = task->make_factory()();
  SearchAgent agent = over_rule(*task, "best_fit:4", {.futures = 4, .horizon = 10});
  double alone = 0;
  double searched = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    alone += blocked_by(*environment, *task->make_agent("best_fit:4"), Seed{seed});
    searched += blocked_by(*environment, agent, Seed{seed});
  }
  CHECK(searched < alone);
}

}  // namespace
}  // namespace pacml::planning
