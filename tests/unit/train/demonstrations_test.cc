#include "apps/roles/demonstrations.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"
#include "tests/support/scripted_environment.h"

namespace pacml::apps {
namespace {

template <class Environment>
class TaskOf final : public env::Task {
 public:
  [[nodiscard]] const env::EnvironmentSpec& spec() const override { return environment_.spec(); }
  [[nodiscard]] env::EnvironmentFactory make_factory() const override {
    return [] { return std::make_unique<Environment>(); };
  }
  [[nodiscard]] std::vector<env::Baseline> baselines() const override { return {}; }
  [[nodiscard]] std::unique_ptr<env::Agent> make_agent(std::string_view /*name*/) const override {
    return nullptr;
  }

 private:
  Environment environment_;
};

// Takes actions in turn, from `first` on, in each episode anew.
class Turns final : public env::Agent {
 public:
  Turns(int first, int actions) : first_(first), actions_(actions) {}
  void reset(Seed /*seed*/) override { turn_ = 0; }
  [[nodiscard]] int act(const env::Environment& /*environment*/) override {
    return (first_ + turn_++) % actions_;
  }

 private:
  int first_;
  int actions_;
  int turn_ = 0;
};

// Ten decisions; shows action 0, and takes actions 1 and 2 besides.
class Hiding final : public env::Environment {
 public:
  Hiding() {
    spec_.task = "hiding";
    spec_.observation = plain_spec(1, 1);
  }
  [[nodiscard]] const env::EnvironmentSpec& spec() const override { return spec_; }
  void reset(Seed /*seed*/) override { decision_ = 0; }
  [[nodiscard]] env::StepResult step(int /*action*/) override {
    env::StepResult result;
    result.terminated = ++decision_ == 10;
    return result;
  }
  [[nodiscard]] bool takes(int /*action*/) const override { return true; }
  void observe(Observations& out) const override {
    const ObservationRow row = out.append();
    row.globals[0] = static_cast<float>(decision_);
    row.mask[0] = 1;
  }
  [[nodiscard]] std::unique_ptr<Environment> clone() const override {
    return std::make_unique<Hiding>(*this);
  }
  [[nodiscard]] bool resample_future(Seed /*seed*/) override { return false; }
  [[nodiscard]] EpisodeRecord summary() const override { return {}; }

 private:
  env::EnvironmentSpec spec_;
  int decision_ = 0;
};

const auto kOn = [](std::int64_t /*done*/) { return true; };

TEST_CASE("what a teacher does is shown beside what it saw", "[unit][train]") {
  const TaskOf<env::ScriptedEnvironment> task;
  Turns teacher(1, env::ScriptedEnvironment::kActions);
  const auto shown = demonstrate(task, teacher, 20, Seed{3}, kOn);
  REQUIRE(shown.actions.size() == 20);
  REQUIRE(shown.observations.size() == 20);
  bool several = false;
  for (std::size_t i = 0; i < 20; ++i) {
    // Observation t holds t, and its action t mod 3 is masked.
    const auto t = static_cast<int>(shown.observations.globals(i)[1]);
    several = several || (i > 0 && t == 0);
    CHECK(shown.actions[i] == (t + 1) % 3);
  }
  CHECK(several);  // episodes
  CHECK(demonstrate(task, teacher, 20, Seed{3}, kOn).observations == shown.observations);
  CHECK_FALSE(demonstrate(task, teacher, 20, Seed{4}, kOn).observations == shown.observations);
}

TEST_CASE("demonstrating ends when it is asked to", "[unit][train]") {
  const TaskOf<env::ScriptedEnvironment> task;
  Turns teacher(1, env::ScriptedEnvironment::kActions);
  const auto shown =
      demonstrate(task, teacher, 20, Seed{3}, [](std::int64_t done) { return done < 7; });
  CHECK(shown.actions.size() == 7);
  CHECK(shown.observations.size() == 7);
}

TEST_CASE("what is not shown as an action is done, and not shown", "[unit][train]") {
  const TaskOf<Hiding> task;
  Turns teacher(0, 3);
  const auto shown = demonstrate(task, teacher, 6, Seed{3}, kOn);
  CHECK(shown.actions == std::vector<std::int32_t>(6, 0));
  REQUIRE(shown.observations.size() == 6);
  const float decisions[] = {0, 3, 6, 9, 0, 3};
  for (std::size_t i = 0; i < 6; ++i) CHECK(shown.observations.globals(i)[0] == decisions[i]);

  Turns never(1, 1'000);
  CHECK_THROWS_WITH(demonstrate(task, never, 6, Seed{3}, kOn),
                    "warm_start.teacher: of 60 decisions only 0 were for what the task shows");
}

}  // namespace
}  // namespace pacml::apps
