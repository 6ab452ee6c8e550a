#pragma once

#include <pacml/error.h>

#include <utility>

#include "common/result.h"

namespace pacml::api {

// Calls `f`; what a user can mend leaves the library as its own exception.
template <class F>
decltype(auto) guarded(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const UserError& error) {
    throw Error(error.what());
  }
}

}  // namespace pacml::api
