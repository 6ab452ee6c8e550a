#include "common/file_lock.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <string>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;
using testing::TempDir;
using testing::wait_until;
using Outcome = FileLock::Outcome;
using State = FileLock::State;

std::string our_number() { return std::to_string(::getpid()); }

TEST_CASE("one at a time holds a lock, and the file names who") {
  const TempDir scratch;
  const auto file = scratch.path() / "lock";
  CHECK(FileLock::state(file) == State::kFree);  // nobody has ever had it
  CHECK(FileLock::owner(file).empty());
  auto first = std::make_unique<FileLock>(file);
  CHECK(FileLock::state(file) == State::kFree);
  CHECK(first->take(0ms) == Outcome::kHeld);
  CHECK(FileLock::state(file) == State::kHeld);
  CHECK(FileLock::owner(file) == our_number());
  FileLock second(file);
  CHECK(second.take(30ms) == Outcome::kOthers);
  CHECK(second.why() == "process " + our_number());
  first.reset();
  CHECK(FileLock::state(file) == State::kFree);
  CHECK(second.take(0ms) == Outcome::kHeld);
}

TEST_CASE("a lock that another process lets go of is waited for") {
  const TempDir scratch;
  const auto file = scratch.path() / "lock";
  const pid_t owner = ::fork();
  REQUIRE(owner >= 0);
  if (owner == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      FileLock lock(file);
      if (lock.take(60s) == Outcome::kHeld) ::pause();  // until it is killed
    } catch (const std::exception&) {
    }
    ::_exit(1);
  }
  wait_until("the child has it, and has said so",
             [&] { return FileLock::owner(file) == std::to_string(owner); });
  FileLock ours(file);
  CHECK(ours.take(0ms) == Outcome::kOthers);
  CHECK(ours.why() == "process " + std::to_string(owner));
  REQUIRE(::kill(owner, SIGKILL) == 0);
  CHECK(ours.take(60s) == Outcome::kHeld);
  REQUIRE(::waitpid(owner, nullptr, 0) == owner);
}

TEST_CASE("a lock in a folder that is not there is an error, not a lock") {
  const TempDir scratch;
  CHECK_THROWS_AS(FileLock(scratch.path() / "none" / "lock"), UserError);
  CHECK(FileLock::state(scratch.path() / "none" / "lock") == State::kFree);
}

}  // namespace
}  // namespace pacml
