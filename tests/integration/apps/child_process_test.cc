#include "apps/process/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/clock.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace pacml;
using namespace pacml::apps;
using namespace std::chrono_literals;

namespace {

ChildSpec shell(const std::string& script) {
  return {.name = "child", .command = {"/bin/sh", "-c", script}, .environment = {}, .log = {}};
}

// Waits for the end itself (the zombie stays), then asks.
ChildExit end_of(ChildProcess& child) {
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT) == 0);
  const auto exit = child.poll();
  REQUIRE(exit);
  return *exit;
}

}  // namespace

TEST_CASE("a child's exit code comes back") {
  auto child = ChildProcess::spawn(shell("exit 7"));
  REQUIRE(child);
  CHECK(end_of(*child) == ChildExit{7, 0});
  CHECK(describe({7, 0}) == "ended with code 7");
}

TEST_CASE("a child's end comes back where whoever started us ignored such ends") {
  ::signal(SIGCHLD, SIG_IGN);
  auto child = ChildProcess::spawn(shell("exit 7"));
  REQUIRE(child);
  CHECK(end_of(*child) == ChildExit{7, 0});
}

TEST_CASE("a killed child tells the signal") {
  auto child = ChildProcess::spawn(shell("sleep 1000"));
  REQUIRE(child);
  CHECK_FALSE(child->poll());
  child->send(SIGKILL);
  const ChildExit exit = end_of(*child);
  CHECK(exit == ChildExit{0, SIGKILL});
  CHECK(exit.shell_code() == 137);
  CHECK(describe(exit) == "was killed by signal 9 (Killed)");
}

TEST_CASE("a program that is not there is told at once, with its name") {
  const auto child = ChildProcess::spawn(
      {.name = "x", .command = {"/no/such/program"}, .environment = {}, .log = {}});
  REQUIRE_FALSE(child);
  CHECK(child.error().code == Errc::kIo);
  CHECK(child.error().detail == "cannot run /no/such/program: No such file or directory");
}

TEST_CASE("output is appended to the log, and the environment is ours with changes") {
  const testing::TempDir folder;
  const auto log = folder / "log";
  for (int i = 0; i < 2; ++i) {
    ChildSpec spec = shell("echo \"$PACML_TEST_VALUE\"; test -n \"$PATH\" && echo warned >&2");
    spec.environment = {{"PACML_TEST_VALUE", "seen"}};
    spec.log = log;
    auto child = ChildProcess::spawn(spec);
    REQUIRE(child);
    CHECK(end_of(*child).clean());
  }
  CHECK(testing::text_of(log) == "seen\nwarned\nseen\nwarned\n");
}

TEST_CASE("a log that nobody reads from is told at once") {
  const testing::TempDir folder;
  ChildSpec spec = shell("true");
  spec.log = folder / "pipe";
  REQUIRE(::mkfifo(spec.log.c_str(), 0600) == 0);
  const auto child = ChildProcess::spawn(spec);
  REQUIRE_FALSE(child);
  CHECK(child.error().detail == "cannot write " + spec.log.string() + ": nobody reads from it");
}

TEST_CASE("a child inherits neither our open files nor our ignored signals") {
  const int open_file = ::open("/dev/null", 0);  // without O_CLOEXEC
  const testing::TempDir folder;
  const auto log = folder / "log";
  ::signal(SIGUSR2, SIG_IGN);
  ChildSpec spec = shell("ls /proc/self/fd | wc -l; kill -USR2 $$; echo survived");
  spec.log = log;
  auto child = ChildProcess::spawn(spec);
  REQUIRE(child);
  CHECK(end_of(*child) == ChildExit{0, SIGUSR2});
  ::signal(SIGUSR2, SIG_DFL);
  ::close(open_file);
  CHECK(testing::text_of(log) == "4\n");  // 0, 1, 2 and the folder that ls reads
}

TEST_CASE("destroying a child kills it with its own children") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  // The writing end reaches the grandchild as its standard output, through /proc.
  ChildSpec spec = shell("sleep 1000 > /proc/" + std::to_string(::getpid()) + "/fd/" +
                         std::to_string(ends[1]) + " & echo x > /proc/" +
                         std::to_string(::getpid()) + "/fd/" + std::to_string(ends[1]) + "; wait");
  {
    auto child = ChildProcess::spawn(spec);
    REQUIRE(child);
    char byte = 0;
    REQUIRE(::read(ends[0], &byte, 1) == 1);  // the shell has come to its second command
  }
  ::close(ends[1]);
  std::array<char, 8> rest{};
  ssize_t got = 0;
  do {
    got = ::read(ends[0], rest.data(), rest.size());  // ends when the last writer has died
  } while (got > 0);
  CHECK(got == 0);
  ::close(ends[0]);
}

TEST_CASE("children die with their parent, even when it is killed") {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);  // the orphan comes to us
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto child = ChildProcess::spawn(shell("exec sleep 1000"));
    const pid_t pid = child ? child->pid() : 0;
    if (::write(ends[1], &pid, sizeof pid) < 0) ::_exit(1);
    while (true) ::pause();
  }
  pid_t orphan = 0;
  REQUIRE(::read(ends[0], &orphan, sizeof orphan) == sizeof orphan);
  REQUIRE(orphan > 0);
  REQUIRE(::kill(parent, SIGKILL) == 0);
  REQUIRE(::waitpid(parent, nullptr, 0) == parent);
  int status = 0;
  REQUIRE(::waitpid(orphan, &status, 0) == orphan);  // the test's timeout is the limit
  CHECK(WIFSIGNALED(status));
  ::close(ends[0]);
  ::close(ends[1]);
}
