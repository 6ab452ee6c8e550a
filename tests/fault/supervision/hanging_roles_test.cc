// Roles that hang without dying: suspended as a whole, or in one thread.

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "common/exit_codes.h"
#include "tests/support/catch.h"
#include "tests/support/http_client.h"
#include "tests/support/pacml_process.h"
#include "tests/support/roles.h"

namespace pacml::testing {
namespace {

constexpr double kSilence = 5;  // the least that may be set

// Where a role that hangs is noticed soon.
apps::TrainConfig watched(apps::TrainConfig config, double silence = kSilence) {
  config.supervision.silence_seconds = silence;
  return config;
}

enum class Where : std::uint8_t { kWaiting, kAnywhere };

// A thread of another process that stands still for as long as this exists, while all others go on:
// stopped where it waited for something, since elsewhere it may hold what the others need (that of
// the allocator, say), or anywhere, where it computes nearly all the time.
class StoppedThread {
 public:
  StoppedThread(pid_t process, const std::string& name, Where where = Where::kWaiting)
      : process_(process) {
    wait_until("there is a thread " + name, [&] { return (thread_ = find(name)) != 0; });
    if (::ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr) != 0) return;
    wait_until(name + " waits for something", [&] {
      ::ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr);
      ::waitpid(thread_, nullptr, __WALL);
      if (where == Where::kAnywhere || waits()) return true;
      ::ptrace(PTRACE_CONT, thread_, nullptr, nullptr);
      return false;
    });
    seized_ = true;
  }
  StoppedThread(const StoppedThread&) = delete;
  StoppedThread& operator=(const StoppedThread&) = delete;
  ~StoppedThread() {
    if (!seized_) return;
    ::waitpid(thread_, nullptr, __WALL | WNOHANG);
    ::ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
  }
  [[nodiscard]] bool stands() const { return seized_; }
  // A traced thread that was killed is there until its tracer has heard of it.
  void hear() const { ::waitpid(thread_, nullptr, __WALL | WNOHANG); }

 private:
  [[nodiscard]] std::filesystem::path tasks() const {
    return "/proc/" + std::to_string(process_) + "/task";
  }
  [[nodiscard]] pid_t find(const std::string& name) const {
    std::error_code ignored;
    for (const auto& task : std::filesystem::directory_iterator(tasks(), ignored)) {
      if (text_of(task.path() / "comm") == name + "\n") {
        return std::stoi(task.path().filename());
      }
    }
    return 0;
  }

  // "202 0x7f...": the system call that it is in; "-1 ..." in none.
  [[nodiscard]] bool waits() const {
    std::istringstream call(text_of(tasks() / std::to_string(thread_) / "syscall"));
    long number = -1;
    call >> number;
    constexpr auto kWaiting = std::to_array<long>({
        SYS_futex,
        SYS_ppoll,
        SYS_epoll_pwait,
        SYS_clock_nanosleep,
#ifdef SYS_poll  // not on every processor
        SYS_poll,
        SYS_epoll_wait,
#endif
    });
    return std::ranges::find(kWaiting, number) != kWaiting.end();
  }

  pid_t process_ = 0;
  pid_t thread_ = 0;
  bool seized_ = false;
};

TEST_CASE("a role that hangs without dying is replaced, and the run goes on",
          "[fault][supervision]") {
  const Workplace place(watched(tiny_apex_config()));
  Pacml train(train_words(place));
  place.wait_for_decisions(2'000);
  for (const auto& [role, name] : {std::pair{shard_role(1), std::string("replay-1")},
                                   std::pair{actor_role(0), std::string("actor-0")},
                                   std::pair{kLearnerRole, std::string("learner")}}) {
    INFO(name);
    wait_until("there is a checkpoint of something",
               [&] { return place.checkpoints().size() >= 2; });
    const pid_t victim = role_of(train, role);
    REQUIRE(victim > 0);
    REQUIRE(::kill(victim, SIGSTOP) == 0);
    wait_for_another(train, role, victim);
    CHECK_THAT(train.err(), Catch::Contains(name + " hangs (no sign of life for "));
    CHECK_THAT(train.err(), Catch::Contains(name + " was killed by signal 9 (Killed); starting it "
                                                   "again"));
    const auto lines = place.metrics().size();
    wait_until("there is news of the present learner",
               [&] { return place.metrics().size() > lines; });
    place.wait_for_decisions(place.latest("decisions") + 2'000);
  }
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
}

TEST_CASE("a run that is suspended as a whole goes on, and nobody is taken for hung",
          "[fault][supervision]") {
  // Longer than a disk may take for one line of a log, which several threads write once they go on.
  constexpr double kLongSilence = 15;
  const Workplace place(watched(tiny_apex_config(), kLongSilence));
  Pacml train(train_words(place));
  place.wait_for_decisions(2'000);
  const auto children = children_of(train.pid());
  CHECK(children.size() == 5);
  train.signal(SIGSTOP);
  for (const auto& [pid, command] : children) REQUIRE(::kill(pid, SIGSTOP) == 0);
  std::this_thread::sleep_for(std::chrono::duration<double>(kLongSilence + 1));  // what is tested
  for (const auto& [pid, command] : children) REQUIRE(::kill(pid, SIGCONT) == 0);
  train.signal(SIGCONT);
  const auto lines = place.metrics().size();
  wait_until("there is news", [&] { return place.metrics().size() > lines; });
  place.wait_for_decisions(place.latest("decisions") + 2'000);
  CHECK(train.err().empty());
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
}

// Stops a thread until the health of its process tells, and lets it go on. False: the test has to
// be skipped, and says so.
bool is_told_to_hang(const std::string& address, pid_t process, const std::string& thread,
                     Where where = Where::kWaiting) {
  {
    const StoppedThread hangs(process, thread, where);
    if (!hangs.stands()) {
      WARN("this test is skipped: this needs to trace another process (CAP_SYS_PTRACE)");
      return false;
    }
    wait_until("its health tells",
               [&] { return http_get(address, "/healthz").result_int() == 503; });
    CHECK_THAT(http_get(address, "/healthz").body(),
               Catch::StartsWith("stuck: thread " + thread + " has been silent for "));
  }
  wait_until("it is well again", [&] { return http_get(address, "/healthz").result_int() == 200; });
  return true;
}

TEST_CASE("a learner whose thread hangs is told by its health, by that thread's name",
          "[fault][supervision]") {
  const Workplace place(watched(tiny_config()));
  Learner learner(place, "tcp://127.0.0.1:*", {"--http", "127.0.0.1:0"});
  wait_until("the pages are served",
             [&] { return !lines_after(place.log("learner"), "health at http://").empty(); });
  const auto address = lines_after(place.log("learner"), "health at http://").back();
  wait_until("it is well", [&] { return http_get(address, "/healthz").body() == "ok\n"; });
  // Before its first line it may be waiting for the disk, which is no hanging.
  wait_until("it waits for experience", [&] { return !place.metrics().empty(); });
  if (!is_told_to_hang(address, learner.process().pid(), "learn")) return;
  learner.process().signal(SIGTERM);
  CHECK(learner.process().end() == 0);
}

TEST_CASE("the health of a learner tells that its warm start hangs", "[fault][supervision]") {
  auto config = watched(tiny_config());
  config.warm_start = {.policy = apps::WarmStart::kImitate,
                       .teacher = "constant:2",
                       .decisions = 100'000,
                       .passes = 1'000};  // longer than the test needs
  const Workplace place(config);
  Pacml learner({"learner", place.config_file(), "--run", place.run(), "--bind",
                 "tcp://127.0.0.1:*", "--http", "127.0.0.1:0"});
  wait_until("the pages are served",
             [&] { return !lines_after(place.log("learner"), "health at http://").empty(); });
  const auto address = lines_after(place.log("learner"), "health at http://").back();
  wait_until("it imitates", [&] { return !lines_after(place.log("learner"), "pass 1: ").empty(); });
  wait_until("it is well", [&] { return http_get(address, "/healthz").body() == "ok\n"; });
  if (!is_told_to_hang(address, learner.pid(), "first-policy", Where::kAnywhere)) return;
  learner.signal(SIGTERM);
  CHECK(learner.end() == kExitStoppedBeforeTraining);
}

TEST_CASE("a learner one of whose threads hangs is replaced", "[fault][supervision]") {
  const Workplace place(watched(tiny_config()));
  Pacml train(train_words(place));
  place.wait_for_decisions(2'000);
  wait_until("there is a checkpoint of something", [&] { return place.checkpoints().size() >= 2; });
  const pid_t victim = role_of(train, kLearnerRole);
  REQUIRE(victim > 0);
  {
    const StoppedThread hangs(victim, "serve");
    if (!hangs.stands()) {
      WARN("this test is skipped: this needs to trace another process (CAP_SYS_PTRACE)");
      return;
    }
    wait_until("another learner has its place", [&] {
      hangs.hear();
      const pid_t now = role_of(train, kLearnerRole);
      return now > 0 && now != victim;
    });
  }
  // Stopped while it held the lock between the two, it keeps the other from speaking, too.
  CHECK_THAT(train.err(), Catch::Contains("learner hangs (thread serve has been silent for ") ||
                              Catch::Contains("learner hangs (thread learn has been silent for "));
  wait_until("it goes on from a checkpoint",
             [&] { return !lines_after(place.log("learner"), "resumed from ").empty(); });
  place.wait_for_decisions(place.latest("decisions") + 2'000);
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
}

TEST_CASE("while all roles stand still a run says that there is no news, and not for longer",
          "[fault][supervision]") {
  auto config = tiny_config();
  config.supervision.silence_seconds = 10'000;  // nobody is replaced
  const Workplace place(config);
  Pacml train(train_words(place));
  place.wait_for_decisions(2'000);
  std::vector<pid_t> roles;
  for (const auto& [pid, command] : children_of(train.pid())) roles.push_back(pid);
  REQUIRE(roles.size() >= 2);
  for (const pid_t role : roles) REQUIRE(::kill(role, SIGSTOP) == 0);
  wait_until("the run says so", [&] { return !lines_after(train.out(), "no news for ").empty(); });
  for (const pid_t role : roles) REQUIRE(::kill(role, SIGCONT) == 0);
  place.wait_for_decisions(place.latest("decisions") + 2'000);
  const auto last_line = [&] {
    const std::string shown = train.out();
    const auto end = shown.find_last_not_of('\n');
    return shown.substr(shown.rfind('\n', end) + 1);
  };
  wait_until("there is news again",
             [&] { return last_line().find("no news for ") == std::string::npos; });
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
}

TEST_CASE("a learner that cannot stop is gone soon after its supervisor was killed",
          "[fault][supervision]") {
  auto config = watched(tiny_config());
  config.supervision.stop_seconds = 2;
  const Workplace place(config);
  Pacml train(train_words(place));
  place.wait_for_decisions(2'000);
  const pid_t learner = role_of(train, kLearnerRole);
  REQUIRE(learner > 0);
  const StoppedThread hangs(learner, "learn");
  if (!hangs.stands()) {
    WARN("this test is skipped: this needs to trace another process (CAP_SYS_PTRACE)");
    return;
  }
  train.signal(SIGKILL);
  CHECK(train.end() == 128 + SIGKILL);
  wait_until("the learner is gone", [&] {
    hangs.hear();
    return is_gone(learner);
  });
  CHECK_THAT(place.log("learner"), Catch::Contains("whoever started this process is gone"));
}

}  // namespace
}  // namespace pacml::testing
