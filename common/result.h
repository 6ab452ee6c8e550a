#pragma once

#include <stdexcept>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace pacml {

// Outcomes that a caller must handle in normal work. A bug of ours is PACML_CHECK; what the user
// can mend before a run starts is UserError.
enum class Errc {
  kTimeout,
  kStopped,
  kDisconnected,
  kCorruptFrame,
  kVersionMismatch,
  kOverLimit,
  kIo
};

struct Error {
  Errc code;
  std::string detail;   // for a person; `code` is for the program
  bool passes = false;  // it may pass by itself (common/try_again.h)
};

template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string detail = {}) {
  return tl::unexpected<Error>(Error{code, std::move(detail)});
}

// What the user can mend: a bad config key, a broken file, a port in use. One clear sentence that
// names the file, line or key. Caught once, in main: printed to stderr, exit code 2.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace pacml
