#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include <exception>

#include "common/file_descriptor.h"
#include "tests/support/catch.h"

namespace pacml::testing {

// While it lives, this process can open nothing further: whoever tries is told EMFILE.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    // The lowest number that is free: where there are no gaps, poll() refuses less.
    const FileDescriptor next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    REQUIRE(next.is_open());
    const rlimit full{static_cast<rlim_t>(next.get()), before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &full) == 0);
  }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// What `act` throws while this process can open nothing further; null: nothing. It is kept until
// then, since a sanitizer that looks at an exception which goes needs files to do so.
template <class Act>
std::exception_ptr thrown_without_files(const Act& act) {
  const NoMoreFiles full;
  try {
    act();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace pacml::testing
