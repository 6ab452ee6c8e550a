#include "apps/process/supervisor.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "common/asio.h"
#include "common/clock.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

using namespace pacml;
using namespace pacml::apps;
using namespace std::chrono_literals;
using Kind = ChildReport::Kind;
namespace fs = std::filesystem;

namespace {

constexpr Backoff kQuick{.first = 1ms, .factor = 2, .longest = 4ms, .healthy_after = 10'000ms};
constexpr auto kPatience = 1h;  // more than a test may take

SupervisedChild shell(const std::string& name, const std::string& script, int stage = 0,
                      std::optional<Backoff> restart = {}) {
  return {{.name = name, .command = {"/bin/sh", "-c", script}, .environment = {}, .log = {}},
          stage,
          restart,
          {}};
}

// A supervisor that remembers every report, and the loop that it runs on.
struct Bench {
  asio::io_context io;
  std::vector<ChildReport> reports;
  Supervisor supervisor{io, [this](const ChildReport& r) { reports.push_back(r); }};

  // Runs the loop until `happened`, or fails.
  template <class Condition>
  void run_until(Condition happened) {
    const Deadline deadline = testing::soon();
    while (!happened() && !deadline.expired()) io.run_one_for(100ms);
    REQUIRE(happened());
  }
  [[nodiscard]] std::int64_t count(Kind kind, const std::string& name) const {
    return std::ranges::count_if(reports,
                                 [&](const auto& r) { return r.kind == kind && r.name == name; });
  }
  [[nodiscard]] const ChildReport& last(Kind kind) const {
    const auto found = std::find_if(reports.rbegin(), reports.rend(),
                                    [&](const auto& r) { return r.kind == kind; });
    REQUIRE(found != reports.rend());
    return *found;
  }
  void stop(std::chrono::milliseconds patience = kPatience) {
    bool done = false;
    supervisor.stop(patience, [&] { done = true; });
    run_until([&] { return done; });
  }
};

// A child with a life line that does as `script` says, where SAY is how it speaks.
SupervisedChild alive(const std::string& name, const std::string& script,
                      std::chrono::milliseconds silence) {
  SupervisedChild child = shell(
      name, "say() { echo \"pacml $*\" > /proc/self/fd/$PACML_LIFE_LINE; }; " + script, 0, kQuick);
  child.spec.life_line = LifeLineKind::kDescriptor;
  child.silence = silence;
  return child;
}

}  // namespace

TEST_CASE("the wait doubles with each death up to its limit") {
  const Backoff b{.first = 100ms, .factor = 2, .longest = 1000ms, .healthy_after = 1s};
  CHECK(delay_after(b, 1) == 100ms);
  CHECK(delay_after(b, 2) == 200ms);
  CHECK(delay_after(b, 4) == 800ms);
  CHECK(delay_after(b, 5) == 1000ms);
  CHECK(delay_after(b, 5000) == 1000ms);
}

TEST_CASE("a child that crashes is restarted, later each time") {
  Bench bench;
  bench.supervisor.start(shell("crasher", "exit 3", 0, kQuick));
  bench.run_until([&] { return bench.count(Kind::kStarted, "crasher") >= 5; });
  std::vector<std::chrono::milliseconds> delays;
  for (const auto& r : bench.reports) {
    if (r.kind == Kind::kRestarting) {
      delays.push_back(r.delay);
      CHECK(r.exit == ChildExit{3, 0});
    }
  }
  delays.resize(4);
  CHECK(delays == std::vector<std::chrono::milliseconds>{1ms, 2ms, 4ms, 4ms});
  CHECK(bench.supervisor.children().at(0).restarts >= 4);
  bench.stop();
}

TEST_CASE("after a healthy life the wait starts from the beginning") {
  Bench bench;
  Backoff backoff = kQuick;
  backoff.healthy_after = 0ms;
  bench.supervisor.start(shell("crasher", "exit 3", 0, backoff));
  bench.run_until([&] { return bench.count(Kind::kRestarting, "crasher") >= 3; });
  CHECK(bench.last(Kind::kRestarting).delay == 1ms);
  bench.stop();
}

TEST_CASE("a child that dies too often in a row is given up, with its last exit") {
  Bench bench;
  Backoff backoff = kQuick;
  backoff.most_deaths = 3;
  bench.supervisor.start(shell("crasher", "exit 3", 0, backoff));
  bench.run_until([&] { return bench.count(Kind::kEnded, "crasher") == 1; });
  CHECK(bench.count(Kind::kStarted, "crasher") == 3);
  CHECK(bench.last(Kind::kEnded).exit == ChildExit{3, 0});
  CHECK(bench.last(Kind::kEnded).deaths == 3);
}

TEST_CASE("deaths after long lives add up as well, when there are too many of them") {
  Bench bench;
  Backoff backoff = kQuick;
  backoff.most_deaths = 3;
  backoff.healthy_after = 0ms;
  bench.supervisor.start(shell("crasher", "exit 3", 0, backoff));
  bench.run_until([&] { return bench.count(Kind::kEnded, "crasher") == 1; });
  CHECK(bench.count(Kind::kStarted, "crasher") == 3);
}

TEST_CASE("what asks for another try gets it, after a longer wait") {
  const Backoff b{.first = 100ms, .factor = 2, .longest = 3000ms, .first_try_again = 1000ms};
  CHECK(delay_after(b, 1, true) == 1000ms);
  CHECK(delay_after(b, 2, true) == 2000ms);
  CHECK(delay_after(b, 3, true) == 3000ms);
  Bench bench;
  Backoff backoff = kQuick;
  backoff.first_try_again = 2ms;
  SupervisedChild child = shell("learner", "exit 75", 0, backoff);
  child.before_restart = [](ChildSpec& spec, bool /*has_lived*/) {
    spec.command.back() = "exit 0";
  };
  bench.supervisor.start(std::move(child));
  bench.run_until([&] { return bench.count(Kind::kEnded, "learner") == 1; });
  CHECK(bench.last(Kind::kRestarting).exit == ChildExit{75, 0});
  CHECK(bench.last(Kind::kRestarting).delay == 2ms);
  CHECK(bench.last(Kind::kEnded).exit.clean());
}

TEST_CASE("a life that cannot be prepared is one more death, and takes nobody else down") {
  Bench bench;
  Backoff backoff = kQuick;
  backoff.first_try_again = 1ms;
  backoff.most_deaths = 4;
  bench.supervisor.start(shell("other", "exec sleep 1000"));
  SupervisedChild child = shell("learner", "exit 3", 0, backoff);
  bool mended = false;
  int tries = 0;
  child.before_restart = [&](ChildSpec& spec, bool /*has_lived*/) {
    if (++tries < 3) throw std::runtime_error("the disk is away");
    mended = true;
    spec.command.back() = "exec sleep 1000";
  };
  bench.supervisor.start(std::move(child));
  bench.run_until([&] { return bench.count(Kind::kStarted, "learner") == 2; });
  CHECK(mended);
  CHECK(bench.count(Kind::kRestarting, "learner") == 3);
  CHECK(bench.last(Kind::kRestarting).why == "the disk is away");
  CHECK(bench.count(Kind::kEnded, "other") == 0);
  bench.stop();
}

TEST_CASE("a child that gives no sign of life is killed and started again") {
  Bench bench;
  bench.supervisor.start(alive("learner", "say +; exec sleep 1000", 2s));
  bench.run_until([&] { return bench.count(Kind::kStarted, "learner") == 2; });
  CHECK_THAT(bench.last(Kind::kSilent).why, Catch::StartsWith("no sign of life for "));
  CHECK(bench.last(Kind::kRestarting).exit == ChildExit{0, SIGKILL});
  bench.stop();
}

TEST_CASE("a child that gives signs of life is left alone, and told from one that is stopped") {
  constexpr auto kSilence = 15s;  // longer than a busy machine keeps a shell from its next word
  const std::string speaks = "while :; do say +; sleep 0.1; done";
  Bench bench;
  bench.supervisor.start(alive("learner", speaks, kSilence));
  bench.supervisor.start(alive("stopped", speaks, kSilence));
  bench.run_until([&] {
    return bench.count(Kind::kReady, "learner") == 1 && bench.count(Kind::kReady, "stopped") == 1;
  });
  REQUIRE(bench.last(Kind::kStarted).name == "stopped");
  REQUIRE(::kill(bench.last(Kind::kStarted).pid, SIGSTOP) == 0);
  bench.run_until([&] { return bench.count(Kind::kStarted, "stopped") == 2; });
  CHECK(bench.count(Kind::kSilent, "stopped") == 1);
  CHECK(bench.count(Kind::kSilent, "learner") == 0);
  bench.stop();
}

TEST_CASE("what cannot be reached is tried again for ever, later each time") {
  Bench bench;
  SupervisedChild child = alive("actor", "exit 255", 0s);
  child.restart->most_deaths = 3;
  child.restart->healthy_after = 0ms;  // no life is one that never spoke
  child.out_of_reach = 255;
  bench.supervisor.start(std::move(child));
  bench.run_until([&] { return bench.count(Kind::kRestarting, "actor") >= 6; });
  CHECK(bench.count(Kind::kEnded, "actor") == 0);
  CHECK(bench.last(Kind::kRestarting).out_of_reach);
  CHECK(bench.last(Kind::kRestarting).delay == 4ms);
  bench.stop();
}

TEST_CASE("a child that was reached and whose connection breaks dies as others do") {
  Bench bench;
  SupervisedChild child = alive("actor", "say +; exit 255", 0s);
  child.restart->most_deaths = 3;
  child.out_of_reach = 255;
  child.before_restart = [](ChildSpec& /*spec*/, bool /*has_lived*/) {};
  bench.supervisor.start(std::move(child));
  bench.run_until([&] { return bench.count(Kind::kEnded, "actor") == 1; });
  CHECK(bench.last(Kind::kEnded).deaths == 3);
}

TEST_CASE("a child that says that it listens and ends at once is heard all the same") {
  Bench bench;
  SupervisedChild child = alive("learner", "say +; exit 0", 0s);
  bench.supervisor.start(std::move(child));
  bench.run_until([&] { return bench.count(Kind::kEnded, "learner") == 1; });
  CHECK(bench.count(Kind::kReady, "learner") == 1);
  CHECK(bench.reports.back().kind == Kind::kEnded);
}

TEST_CASE("what a later life is told may depend on whether one before has lived") {
  Bench bench;
  SupervisedChild child = alive("learner", "exit 255", 0s);
  std::vector<bool> lived;
  child.before_restart = [&](ChildSpec& spec, bool has_lived) {
    lived.push_back(has_lived);
    const std::string script = lived.size() == 1   ? "exit 75"
                               : lived.size() == 2 ? "say +; exit 255"
                                                   : "exit 0";
    spec.command = alive("learner", script, 0s).spec.command;
  };
  bench.supervisor.start(std::move(child));
  bench.run_until([&] { return bench.count(Kind::kEnded, "learner") == 1; });
  CHECK(lived == std::vector{false, false, true});
}

TEST_CASE("a child one of whose threads hangs is killed at its own word") {
  Bench bench;
  bench.supervisor.start(
      alive("learner", "say + ; say '! thread learn has been silent for 31 s'; exec sleep 1000",
            std::chrono::hours{1}));
  bench.run_until([&] { return bench.count(Kind::kStarted, "learner") == 2; });
  CHECK(bench.last(Kind::kSilent).why == "thread learn has been silent for 31 s");
  bench.stop();
}

TEST_CASE("nobody is killed for silence where that was not asked for") {
  Bench bench;
  bench.supervisor.start(alive("quiet", "say +; exec sleep 1000", 0s));
  bench.supervisor.start(alive("loud", "while :; do say +; sleep 0.1; done", 1s));
  bench.run_until([&] { return bench.count(Kind::kReady, "loud") == 1; });
  bench.run_until([&] { return bench.count(Kind::kReady, "quiet") == 1; });
  bench.io.run_for(2s);
  CHECK(bench.count(Kind::kSilent, "quiet") == 0);
  bench.stop();
}

TEST_CASE("deaths that lie far apart do not add up") {
  Bench bench;
  Backoff backoff = kQuick;
  backoff.most_deaths = 2;
  backoff.window = 0ms;  // each death is long ago when the next one comes
  bench.supervisor.start(shell("crasher", "exit 3", 0, backoff));
  bench.run_until([&] { return bench.count(Kind::kRestarting, "crasher") >= 4; });
  CHECK(bench.count(Kind::kEnded, "crasher") == 0);
  bench.stop();
}

TEST_CASE("a later life may have another command than the first") {
  Bench bench;
  SupervisedChild child = shell("learner", "exit 3", 0, kQuick);
  child.before_restart = [](ChildSpec& spec, bool /*has_lived*/) {
    spec.command.back() = "exit 0";
  };
  bench.supervisor.start(std::move(child));
  bench.run_until([&] { return bench.count(Kind::kEnded, "learner") == 1; });
  CHECK(bench.count(Kind::kStarted, "learner") == 2);
  CHECK(bench.last(Kind::kEnded).exit == ChildExit{0, 0});
}

TEST_CASE("a child that is killed from outside is restarted with another pid") {
  Bench bench;
  bench.supervisor.start(shell("actor", "exec sleep 1000", 0, kQuick));
  bench.run_until([&] { return bench.count(Kind::kStarted, "actor") == 1; });
  const pid_t first = bench.last(Kind::kStarted).pid;
  REQUIRE(::kill(first, SIGKILL) == 0);
  bench.run_until([&] { return bench.count(Kind::kStarted, "actor") == 2; });
  CHECK(bench.last(Kind::kRestarting).exit == ChildExit{0, SIGKILL});
  CHECK(bench.last(Kind::kStarted).pid != first);
  CHECK(bench.supervisor.children().at(0).pid == bench.last(Kind::kStarted).pid);
  bench.stop();
}

TEST_CASE("a child that is done, or that only the user can mend, is not restarted") {
  Bench bench;
  const int code = GENERATE(0, 2);
  bench.supervisor.start(shell("child", "exit " + std::to_string(code), 0, kQuick));
  bench.run_until([&] { return bench.count(Kind::kEnded, "child") == 1; });
  CHECK(bench.last(Kind::kEnded).exit == ChildExit{code, 0});
  CHECK(bench.count(Kind::kRestarting, "child") == 0);
}

TEST_CASE("a child without a restart policy ends for good, and its code is reported") {
  Bench bench;
  bench.supervisor.start(shell("learner", "exit 9"));
  bench.run_until([&] { return bench.count(Kind::kEnded, "learner") == 1; });
  CHECK(bench.last(Kind::kEnded).exit.shell_code() == 9);
}

TEST_CASE("stopping asks the highest stage first and the next when it has gone") {
  Bench bench;
  const testing::TempDir folder;
  const auto ready = folder / "ready";
  bench.supervisor.start(shell(
      "learner", "trap 'exit 0' TERM; : > " + ready.string() + "; while :; do sleep 0.01; done"));
  bench.supervisor.start(shell("actor-0", "exec sleep 1000", 1, kQuick));
  bench.supervisor.start(shell("actor-1", "exec sleep 1000", 1, kQuick));
  bench.run_until([&] { return bench.reports.size() == 3 && fs::exists(ready); });
  bench.stop();
  std::vector<std::string> ended;
  for (const auto& r : bench.reports) {
    if (r.kind == Kind::kEnded) ended.push_back(r.name);
  }
  REQUIRE(ended.size() == 3);
  CHECK(ended.back() == "learner");
  CHECK(bench.last(Kind::kEnded).exit.clean());
  CHECK_FALSE(bench.last(Kind::kEnded).forced);
  CHECK(bench.count(Kind::kRestarting, "actor-0") == 0);
  CHECK(bench.count(Kind::kForced, "learner") == 0);
}

TEST_CASE("after a stop the loop has nothing left to wait for") {
  Bench bench;
  bench.supervisor.start(shell("child", "exec sleep 1000"));
  bool done = false;
  bench.supervisor.stop(kPatience, [&] { done = true; });
  bench.io.run_until(testing::soon().at());
  CHECK(done);
  CHECK(bench.io.stopped());
}

TEST_CASE("a child that ignores the request is killed when patience ends") {
  Bench bench;
  const testing::TempDir folder;
  const auto ready = folder / "ready";
  bench.supervisor.start(
      shell("deaf", "trap '' TERM; : > " + ready.string() + "; while :; do sleep 0.01; done"));
  bench.run_until([&] { return fs::exists(ready); });
  bench.stop(1ms);
  CHECK(bench.count(Kind::kForced, "deaf") == 1);
  CHECK(bench.last(Kind::kEnded).forced);
  CHECK(bench.last(Kind::kEnded).exit == ChildExit{0, SIGKILL});
}

TEST_CASE("a second request to stop kills at once") {
  Bench bench;
  const testing::TempDir folder;
  const auto ready = folder / "ready";
  bench.supervisor.start(
      shell("deaf", "trap '' TERM; : > " + ready.string() + "; while :; do sleep 0.01; done"));
  bench.run_until([&] { return fs::exists(ready); });
  bool done = false;
  bench.supervisor.stop(std::chrono::hours{1}, [&] { done = true; });
  bench.supervisor.stop(std::chrono::hours{1}, {});
  bench.run_until([&] { return done; });
  CHECK(bench.last(Kind::kEnded).exit == ChildExit{0, SIGKILL});
}

TEST_CASE("a child that waits for its restart stops without being started again") {
  Bench bench;
  Backoff slow = kQuick;
  slow.first = slow.longest = std::chrono::hours{1};
  bench.supervisor.start(shell("crasher", "exit 3", 0, slow));
  bench.run_until([&] { return bench.count(Kind::kRestarting, "crasher") == 1; });
  bench.stop();
  CHECK(bench.count(Kind::kStarted, "crasher") == 1);
  CHECK(bench.last(Kind::kEnded).exit == ChildExit{3, 0});
}

TEST_CASE("an observer may stop everything from within a report") {
  asio::io_context io;
  bool done = false;
  Supervisor* self = nullptr;
  Supervisor supervisor(io, [&](const ChildReport& r) {
    if (r.kind == Kind::kEnded && r.name == "learner") self->stop(kPatience, [&] { done = true; });
  });
  self = &supervisor;
  supervisor.start(shell("learner", "exit 1"));
  supervisor.start(shell("actor", "exec sleep 1000", 1, kQuick));
  io.run_until(testing::soon().at());
  CHECK(done);
}

TEST_CASE("a child that cannot be started is a sentence, and nothing has changed") {
  Bench bench;
  CHECK_THROWS_WITH(
      bench.supervisor.start(
          {{.name = "actor-0", .command = {"/no/such"}, .environment = {}, .log = {}}, 0, {}, {}}),
      "cannot start actor-0: cannot run /no/such: No such file or directory");
  CHECK(bench.supervisor.children().empty());
}

TEST_CASE("a signal is passed on to the child that is named") {
  Bench bench;
  bench.supervisor.start(shell("a", "exec sleep 1000"));
  bench.supervisor.start(shell("b", "exec sleep 1000"));
  CHECK(bench.supervisor.send("b", SIGUSR1));
  CHECK_FALSE(bench.supervisor.send("nobody", SIGUSR1));
  bench.run_until([&] { return bench.count(Kind::kEnded, "b") == 1; });
  CHECK(bench.last(Kind::kEnded).exit == ChildExit{0, SIGUSR1});
  CHECK(bench.count(Kind::kEnded, "a") == 0);
}
