#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace pacml {

// Owns an open file descriptor, or nothing. Thread-confined, but for get().
class FileDescriptor {
 public:
  FileDescriptor() = default;
  // Takes over what a system call gave; -1: nothing.
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = other.release();
    }
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  // -1: nothing.
  [[nodiscard]] int get() const { return fd_; }
  // Gives it away.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  // Closes it and says, with errno set, whether something that was written is lost. Pre: is_open().
  [[nodiscard]] bool close() { return ::close(release()) == 0; }
  // Closes it, if it is open; errno stays what it was, for whoever still has to tell why.
  void reset() {
    if (fd_ < 0) return;
    const int error = errno;
    ::close(release());
    errno = error;
  }

 private:
  int fd_ = -1;
};

}  // namespace pacml
