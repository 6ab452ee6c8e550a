#pragma once

#include <exception>

#include "common/result.h"

namespace pacml {

// What `write` returns, or kIo with the words of what it throws: out of memory, say, is a file that
// was not written, and not the end of the thread that writes it.
template <class Write>
[[nodiscard]] auto attempt(Write write) -> decltype(write()) {
  try {
    return write();
  } catch (const std::exception& error) {
    return fail(Errc::kIo, error.what());
  }
}

}  // namespace pacml
