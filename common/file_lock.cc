#include "common/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "common/try_again.h"

namespace pacml {
namespace {

constexpr std::chrono::milliseconds kLookEvery{10};

std::string number_in(int fd) {
  std::array<char, 32> number{};
  const auto length = ::pread(fd, number.data(), number.size(), 0);
  return {number.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

// 0, or why not.
int try_lock(int fd, int operation) {
  while (::flock(fd, operation | LOCK_NB) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

FileDescriptor open_to_ask(const std::filesystem::path& file) {
  return FileDescriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

}  // namespace

FileLock::FileLock(std::filesystem::path file) : path_(std::move(file)) {
  file_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file_.is_open()) throw_system_error("cannot write " + path_.string(), errno);
}

FileLock::Outcome FileLock::take(Duration patience) {
  const Deadline deadline = Deadline::in(patience);
  int failed = try_lock(file_.get(), LOCK_EX);
  while (failed == EWOULDBLOCK && !deadline.expired()) {
    std::this_thread::sleep_for(kLookEvery);
    failed = try_lock(file_.get(), LOCK_EX);
  }
  if (failed == EWOULDBLOCK) {
    const std::string number = number_in(file_.get());
    why_ = number.empty() ? "another process" : "process " + number;
    return Outcome::kOthers;
  }
  if (failed != 0) why_ = std::generic_category().message(failed);
  const std::string pid = std::to_string(::getpid());
  if (::ftruncate(file_.get(), 0) != 0 || ::pwrite(file_.get(), pid.data(), pid.size(), 0) < 0) {
    throw_system_error("cannot write " + path_.string(), errno);
  }
  return failed == 0 ? Outcome::kHeld : Outcome::kNoLocks;
}

FileLock::State FileLock::state(const std::filesystem::path& file) {
  const FileDescriptor opened = open_to_ask(file);
  if (!opened.is_open()) return State::kFree;
  const int failed = try_lock(opened.get(), LOCK_SH);
  if (failed == 0) return State::kFree;
  return failed == EWOULDBLOCK ? State::kHeld : State::kUnknown;
}

std::string FileLock::owner(const std::filesystem::path& file) {
  const FileDescriptor opened = open_to_ask(file);
  return opened.is_open() ? number_in(opened.get()) : std::string();
}

}  // namespace pacml
