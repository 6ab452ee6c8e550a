#include "apps/process/run_supervisor.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/asio.h"
#include "common/clock.h"
#include "common/exit_codes.h"
#include "tests/support/catch.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace pacml::apps {
namespace {

using namespace std::chrono_literals;

// Scripts in the place of a run's processes.
struct Run {
  explicit Run(RunSupervision settings = {.patience = 30s, .silence = 0s}) {
    supervisor.emplace(
        io, std::move(settings), [this](const std::string& s) { told.push_back(s); },
        [this] { done = true; });
  }
  void start(MemberKind kind, const std::string& name, const std::string& script,
             std::optional<int> out_of_reach = {}) {
    Member member{.kind = kind, .spec = {}, .out_of_reach = out_of_reach};
    if (out_of_reach) member.spec.life_line = LifeLineKind::kDescriptor;
    member.spec.name = name;
    member.spec.command = {"/bin/sh", "-c", script};
    member.spec.log = folder / (name + ".log");
    supervisor->start(std::move(member));
  }
  // A process that lives, and at a request to stop does `when_asked`: it has begun to by now.
  void start_living(MemberKind kind, const std::string& name,
                    const std::string& when_asked = "exit 0") {
    const auto there = folder / (name + ".there");
    start(
        kind, name,
        "trap '" + when_asked + "' TERM; : > " + there.string() + "; while :; do sleep 0.01; done");
    run_until([&] { return std::filesystem::exists(there); });
  }
  template <class Condition>
  void run_until(Condition happened) {
    const Deadline deadline = testing::soon();
    while (!happened() && !deadline.expired()) io.run_one_for(20ms);
    INFO(all_told());
    REQUIRE(happened());
  }
  void end() {
    run_until([this] { return done; });
  }
  [[nodiscard]] std::string all_told() const {
    std::string all;
    for (const auto& sentence : told) all += sentence + "\n";
    return all;
  }

  testing::TempDir folder;
  asio::io_context io;
  std::vector<std::string> told;
  bool done = false;
  std::optional<RunSupervisor> supervisor;
};

const std::string kDeaf;  // does nothing when asked to stop

TEST_CASE("a run that stops in order ends with the learner's code and leaves no word") {
  Run run;
  run.start_living(MemberKind::kShard, "replay-0");
  run.start_living(MemberKind::kLearner, "learner");
  run.start_living(MemberKind::kActor, "actor-0");
  run.supervisor->stop();
  run.end();
  CHECK(run.supervisor->exit_code() == 0);
  CHECK(run.told.empty());
  CHECK(run.supervisor->losses().empty());
}

// A learner that needs a moment to stop in order, and says when it was asked.
struct Stopping {
  Stopping(Run& run, const std::string& moment) {
    const auto asked = run.folder / "asked";
    run.start_living(MemberKind::kLearner, "learner",
                     "trap \"\" TERM; : > " + asked.string() + "; sleep " + moment + "; exit 0");
    std::raise(SIGTERM);
    run.run_until([&] { return std::filesystem::exists(asked); });
  }
};

TEST_CASE("one request to stop may be told twice") {
  Run run({.patience = 1h, .silence = 0s, .one_request = 1h});
  const Stopping learner(run, "1");
  std::raise(SIGTERM);
  run.end();
  CHECK(run.supervisor->exit_code() == 0);
  CHECK(run.told.empty());
}

TEST_CASE("whoever cannot wait kills") {
  const int signal = GENERATE(SIGINT, SIGTERM);  // the latter comes later than an echo would
  Run run({.patience = 1h, .silence = 0s, .one_request = signal == SIGINT ? 3'600'000ms : 1ms});
  const Stopping learner(run, "3600");
  const Deadline echo = Deadline::in(2ms);
  run.run_until([&] { return echo.expired(); });
  std::raise(signal);
  run.end();
  CHECK(run.supervisor->exit_code() == 128 + SIGKILL);
}

TEST_CASE("a shard that has to be killed is told, is the exit code, and is remembered") {
  Run run({.patience = 600ms, .silence = 0s});
  run.start_living(MemberKind::kShard, "replay-0", kDeaf);
  run.start(MemberKind::kLearner, "learner", "exit 0");
  run.end();
  CHECK(run.supervisor->exit_code() == 128 + SIGKILL);
  CHECK(run.all_told() ==
        "replay-0 had not stopped yet: killed\nreplay-0 was killed by signal 9 "
        "(Killed); see " +
            (run.folder / "replay-0.log").string() + "\n");
  CHECK(run.supervisor->losses() ==
        std::vector<std::string>{"replay-0 was killed before it had left its last snapshot: its "
                                 "table is older than the checkpoint"});
}

TEST_CASE("a learner that has to be killed is told, is the exit code, and is remembered") {
  Run run({.patience = 600ms, .silence = 0s});
  run.start_living(MemberKind::kLearner, "learner", kDeaf);
  run.supervisor->stop();
  run.end();
  CHECK(run.supervisor->exit_code() == 128 + SIGKILL);
  CHECK_THAT(run.all_told(), Catch::Contains("learner had not stopped yet: killed"));
  CHECK(run.supervisor->losses().size() == 1);
}

TEST_CASE("an actor that has to be killed is told, and costs nothing") {
  Run run({.patience = 12s, .silence = 0s});  // of which the learner has what the actor leaves
  run.start_living(MemberKind::kLearner, "learner");
  run.start_living(MemberKind::kActor, "actor-0", kDeaf);
  run.supervisor->stop();
  run.end();
  CHECK(run.supervisor->exit_code() == 0);
  CHECK(run.all_told() == "actor-0 had not stopped yet: killed\n");
}

TEST_CASE("a shard whose last snapshot fails is told, and is the exit code") {
  Run run;
  run.start_living(MemberKind::kShard, "replay-0", "exit 2");
  run.start_living(MemberKind::kLearner, "learner");
  run.supervisor->stop();
  run.end();
  CHECK(run.supervisor->exit_code() == 2);
  CHECK_THAT(run.all_told(), Catch::Contains("replay-0 ended with code 2; see "));
  REQUIRE(run.supervisor->losses().size() == 1);
  CHECK_THAT(run.supervisor->losses()[0], Catch::Contains("could not leave its last snapshot"));
}

TEST_CASE("who went home with a learner comes again with the next one") {
  Run run({.patience = 30s, .silence = 0s, .first_restart = 1ms, .first_try_again = 1ms});
  // Each ends as `first_end` says, and lives on when it is started again.
  const auto file = [&run](const std::string& name) { return (run.folder / name).string(); };
  const auto lives = [&file](const std::string& name, const std::string& first_end,
                             const std::string& second_begin) {
    return "if [ ! -e " + file(name + ".1") + " ]; then : > " + file(name + ".1") + "; " +
           first_end + "; fi; " + second_begin + "; trap 'exit 0' TERM; : > " + file(name + ".2") +
           "; while :; do sleep 0.01; done";
  };
  // The learner asks for another life before those that serve it end in order, or after, and hears
  // when all are back.
  const bool ends_first = GENERATE(true, false);
  const std::string when_all_went = "while [ ! -e " + file("actor-0.1") + " ] || [ ! -e " +
                                    file("learner-1.1") + " ]; do sleep 0.01; done; sleep 0.2; ";
  const std::string when_all_are_back = "while [ ! -e " + file("actor-0.2") + " ] || [ ! -e " +
                                        file("learner-1.2") + " ]; do sleep 0.01; done; ";
  run.start(MemberKind::kLearner, "learner",
            lives("learner", (ends_first ? "" : when_all_went) + "exit 75",
                  when_all_are_back + "echo 'pacml +' > /proc/self/fd/$PACML_LIFE_LINE"),
            255);
  const std::string when_learner_ends =
      "while [ ! -e " + file("learner.1") + " ]; do sleep 0.01; done; sleep 0.2; exit 0";
  const std::string served = ends_first ? when_learner_ends : "exit 0";
  run.start(MemberKind::kActor, "actor-0", lives("actor-0", served, ":"));
  run.start(MemberKind::kFollower, "learner-1", lives("learner-1", served, ":"));
  run.run_until([&] { return std::filesystem::exists(file("learner.2")); });
  run.supervisor->stop();
  run.end();
  CHECK(run.supervisor->exit_code() == 0);
  CHECK(run.all_told() == "learner ended with code 75; starting it again in 1 ms\n");
}

TEST_CASE("a run waits for an actor that cannot be reached, and says so once") {
  Run run({.patience = 30s, .silence = 0s, .first_restart = 1ms});
  run.start_living(MemberKind::kLearner, "learner");
  const auto tries = run.folder / "tries";
  run.start(MemberKind::kActor, "actor-0", "echo try >> " + tries.string() + "; exit 255", 255);
  run.run_until([&] { return testing::text_of(tries).size() >= 3 * std::string("try\n").size(); });
  run.supervisor->stop();
  run.end();
  CHECK(run.supervisor->exit_code() == 0);
  CHECK(run.all_told() == "actor-0 cannot be reached; see " +
                              (run.folder / "actor-0.log").string() +
                              "; trying again until it can\n");
}

TEST_CASE("what a member said of its end is told, and where there is more") {
  Run run;
  run.start_living(MemberKind::kLearner, "learner");
  run.start(MemberKind::kActor, "actor-0",
            "echo pacml: an earlier trouble >&2; echo 'pacml: there is no such file' >&2; "
            "echo something else >&2; exit 2");
  run.end();
  CHECK(run.supervisor->exit_code() == 2);
  CHECK(run.all_told() == "actor-0 ended with code 2: there is no such file; see " +
                              (run.folder / "actor-0.log").string() +
                              "\nno actor is left: stopping\n");
}

TEST_CASE("a shard that crashes for ever ends the run with a sentence") {
  Run run({.patience = 30s, .silence = 0s, .first_restart = 1ms});
  run.start(MemberKind::kShard, "replay-0", "exit 3");
  run.start_living(MemberKind::kLearner, "learner");
  run.end();
  CHECK(run.supervisor->exit_code() == 3);
  CHECK_THAT(run.all_told(), Catch::Contains("replay-0 ended with code 3, as 8 times within 10 "
                                             "minutes; see ") &&
                                 Catch::Contains("a replay shard is lost for good: stopping"));
}

TEST_CASE("what asks for another try in vain ends the run with its own code") {
  Run run({.patience = 30s, .silence = 0s, .first_restart = 1ms, .first_try_again = 1ms});
  run.start(MemberKind::kLearner, "learner", "exit 75");
  run.run_until([&] { return run.done; });
  CHECK(run.supervisor->exit_code() == 75);
}

TEST_CASE(
    "where nobody can tell whether there is a checkpoint, a learner is started again all the "
    "same") {
  Run run({.patience = 30s, .silence = 0s, .first_restart = 1ms, .has_checkpoint = []() -> bool {
             throw std::runtime_error("cannot read the folder");
           }});
  const auto lived = run.folder / "lived";
  run.start(MemberKind::kLearner, "learner",
            "[ -e " + lived.string() + " ] && exit 0; : > " + lived.string() + "; exit 3");
  run.end();
  CHECK(run.supervisor->exit_code() == 0);
  CHECK_THAT(run.all_told(), Catch::StartsWith("learner ended with code 3; starting it again in "));
}

TEST_CASE(
    "a shard that has failed when the run is stopped is the exit code of a learner that stops "
    "well") {
  Run run({.patience = 30s, .silence = 0s, .first_restart = 1h});
  run.start_living(MemberKind::kLearner, "learner");
  run.start(MemberKind::kShard, "replay-0", "exit 4");
  run.run_until([&] { return !run.told.empty(); });  // it will be started again, in an hour
  run.supervisor->stop();
  run.end();
  CHECK(run.supervisor->exit_code() == 4);
  CHECK(run.supervisor->losses().size() == 1);
}

TEST_CASE("a run goes on without an actor that only the user can mend, and not without any") {
  Run run;
  run.start_living(MemberKind::kLearner, "learner");
  run.start(MemberKind::kActor, "actor-0", "exit 2");
  run.start_living(MemberKind::kActor, "actor-1");
  run.run_until([&] { return run.told.size() == 2; });
  CHECK(run.told[1] == "going on with 1 of 2 actors");
  CHECK_FALSE(run.done);
  run.supervisor->stop();
  run.end();
  CHECK(run.supervisor->exit_code() == 0);

  Run other;
  other.start_living(MemberKind::kLearner, "learner");
  other.start(MemberKind::kActor, "actor-0", "exit 2");
  other.end();
  CHECK(other.supervisor->exit_code() == 2);
  CHECK(other.told.back() == "no actor is left: stopping");
}

TEST_CASE("a run that learned nothing because its actors kept dying has failed, and says so") {
  bool learned_nothing = true;
  Run run({.patience = 30s, .silence = 0s, .learned_nothing = [&] { return learned_nothing; }});
  const auto enough = run.folder / "enough";
  run.start(MemberKind::kLearner, "learner",
            "while ! [ -e " + enough.string() + " ]; do sleep 0.01; done");
  const auto end_after = [&](std::size_t deaths) {
    run.run_until([&] { return run.told.size() >= deaths; });
    const std::ofstream touched(enough);
    run.end();
  };
  const std::string nothing = "nothing was learned, since no actor lived long enough: ";
  SECTION("with the exit code of the last actor") {
    run.start(MemberKind::kActor, "actor-0", "exit 3");
    end_after(2);
    CHECK(run.supervisor->exit_code() == 3);
    CHECK(run.told.back().starts_with(nothing + "actor-0 ended with code 3, the last of "));
    CHECK(run.told.back().ends_with("; see " + (run.folder / "actor-0.log").string()));
  }
  SECTION("also where one died too early, and the next one came too late") {
    const std::string lived = (run.folder / "lived").string();
    run.start(MemberKind::kActor, "actor-0",
              "[ -e " + lived + " ] && exec sleep 60; : > " + lived + "; exit 3");
    end_after(1);
    CHECK(run.supervisor->exit_code() == 3);
    CHECK(run.told.back() ==
          nothing + "actor-0 ended with code 3; see " + (run.folder / "actor-0.log").string());
  }
  SECTION("but not where something was learned all the same") {
    learned_nothing = false;
    run.start(MemberKind::kActor, "actor-0", "exit 3");
    end_after(2);
    CHECK(run.supervisor->exit_code() == 0);
    CHECK_THAT(run.all_told(), !Catch::Contains(nothing));
  }
}

TEST_CASE("whoever stops a run in which actors die has not failed") {
  Run run({.patience = 30s, .silence = 0s, .learned_nothing = [] { return true; }});
  run.start_living(MemberKind::kLearner, "learner");
  run.start(MemberKind::kActor, "actor-0", "exit 3");
  run.run_until([&] { return !run.told.empty(); });
  run.supervisor->stop();
  run.end();
  CHECK(run.supervisor->exit_code() == 0);
}

TEST_CASE("where others may join, a run goes on without an actor of its own") {
  Run run({.patience = 30s, .silence = 0s, .others_may_join = true});
  run.start_living(MemberKind::kLearner, "learner");
  run.start(MemberKind::kActor, "actor-0", "exit 2");
  run.run_until([&] { return run.told.size() == 2; });
  CHECK(run.told[1] == "going on with 0 of 1 actors");
  run.supervisor->stop();
  run.end();
  CHECK(run.supervisor->exit_code() == 0);
}

TEST_CASE("a terminal that hangs up stops the run in order, and twice is no impatience") {
  Run run;
  run.start_living(MemberKind::kLearner, "learner", "sleep 0.3; exit 0");
  REQUIRE(::raise(SIGHUP) == 0);
  run.io.run_for(50ms);
  REQUIRE(::raise(SIGHUP) == 0);
  run.end();
  CHECK(run.supervisor->exit_code() == 0);
  CHECK(run.told.empty());
}

// A learner with a life line, that is a shell's script.
Member learner_that(const std::string& script) {
  Member learner{.kind = MemberKind::kLearner, .spec = {}};
  learner.spec.name = "learner";
  learner.spec.life_line = LifeLineKind::kDescriptor;
  learner.spec.command = {"/bin/sh", "-c", script};
  return learner;
}
// It says on its life line that it is ready.
constexpr const char* kReady = "echo 'pacml +' > /proc/self/fd/$PACML_LIFE_LINE; ";

TEST_CASE("a checkpoint is asked of the learner once it can hear") {
  Run run;
  const auto asked = run.folder / "asked";
  // Deaf for a while, in which SIGUSR1 would be its end.
  run.supervisor->start(learner_that("sleep 0.5; trap ': > " + asked.string() +
                                     "' USR1; trap 'exit 0' TERM; " + kReady +
                                     "while :; do sleep 0.01; done"));
  REQUIRE(::raise(SIGUSR1) == 0);
  run.run_until([&] { return std::filesystem::exists(asked); });
  run.supervisor->stop();
  run.end();
  CHECK(run.supervisor->exit_code() == 0);
  CHECK(run.told.empty());
}

TEST_CASE("a learner that listens has saved what it has when it is stopped") {
  Run run;
  run.supervisor->start(
      learner_that("trap 'exit 0' TERM; " + std::string(kReady) + "while :; do sleep 0.01; done"));
  run.run_until([&] { return run.supervisor->learner_hears(); });
  REQUIRE(::raise(SIGTERM) == 0);
  run.end();
  CHECK(run.supervisor->exit_code([&] { return run.supervisor->learner_hears(); }) == 0);
  CHECK(run.told.empty());
}

TEST_CASE("a run whose learner died and is not back saves nothing when it is stopped") {
  Run run;
  const auto lived = run.folder / "lived";
  const auto comes = run.folder / "comes";
  run.supervisor->start(learner_that("[ -e " + lived.string() + " ] && { : > " + comes.string() +
                                     "; exec sleep 3600; }; : > " + lived.string() + "; " + kReady +
                                     "exit 3"));
  run.run_until([&] { return std::filesystem::exists(comes); });
  REQUIRE(::raise(SIGTERM) == 0);
  run.end();
  CHECK(run.supervisor->exit_code() == 0);  // there may be a checkpoint
  CHECK(run.supervisor->exit_code([&] { return run.supervisor->learner_hears(); }) ==
        kExitStoppedBeforeTraining);
  CHECK(run.told.back() ==
        "stopped before the learner that died was replaced: no checkpoint of it is known");
}

TEST_CASE("a learner that stops already is not asked for a checkpoint") {
  Run run;
  const auto asked = run.folder / "asked";
  const auto hears = run.folder / "hears";
  run.supervisor->start(learner_that("trap ': > " + asked.string() +
                                     "' USR1; trap 'sleep 0.5; exit 0' TERM; " + kReady + ": > " +
                                     hears.string() + "; while :; do sleep 0.01; done"));
  run.run_until([&] { return std::filesystem::exists(hears); });
  run.supervisor->stop();
  REQUIRE(::raise(SIGUSR1) == 0);
  run.end();
  CHECK(run.supervisor->exit_code() == 0);
  CHECK_FALSE(std::filesystem::exists(asked));
}

}  // namespace
}  // namespace pacml::apps
