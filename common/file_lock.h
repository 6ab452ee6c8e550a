#pragma once

#include <filesystem>
#include <string>

#include "common/clock.h"
#include "common/file_descriptor.h"

namespace pacml {

// By which one process at a time owns what a file stands for: flock(2) on that file, which is made
// where it is not there, has the owner's number in it and stays. A process that dies, however it
// dies, lets go. Thread-confined.
class FileLock {
 public:
  // Not held yet. UserError, or TryAgainError where that may pass: the file cannot be opened.
  explicit FileLock(std::filesystem::path file);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() = default;

  enum class Outcome { kHeld, kOthers, kNoLocks };
  // Until it is held, or another process has had it for `patience`: whoever only asks (state) has
  // it for a moment. kNoLocks: the file system has none; nobody is kept away.
  [[nodiscard]] Outcome take(Duration patience);
  // Of kOthers: who has it, "process 17" or, before it has said so, "another process". Of kNoLocks:
  // what the system says.
  [[nodiscard]] const std::string& why() const { return why_; }

  enum class State { kFree, kHeld, kUnknown };
  // Whether some process, this one included, holds the lock of that file. kUnknown: the file system
  // has no locks. Any thread.
  [[nodiscard]] static State state(const std::filesystem::path& file);
  // The number in that file, of whoever has it or had it last; empty: there is none.
  [[nodiscard]] static std::string owner(const std::filesystem::path& file);

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
  std::string why_;
};

}  // namespace pacml
