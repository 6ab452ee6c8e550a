#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "common/clock.h"
#include "common/file_descriptor.h"

namespace pacml::bench {

// Which of thousands of file descriptors can be read, at a cost per one that can (epoll). Owns none
// of them. Thread-confined.
class ReadySet {
 public:
  ReadySet();

  // `key`: what wait() says when `fd` can be read; may be that of several. Pre: fd is open, and
  // stays open as long as this set is used.
  void add(int fd, std::size_t key);
  // The keys of some that can be read, a key perhaps twice; none: the deadline passed. Valid until
  // the next call.
  [[nodiscard]] std::span<const std::size_t> wait(Deadline deadline);

 private:
  FileDescriptor epoll_;
  std::vector<std::size_t> keys_;
};

}  // namespace pacml::bench
