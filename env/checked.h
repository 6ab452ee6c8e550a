#pragma once

#include "common/result.h"

namespace pacml::env {

// A configuration, if validate() finds nothing wrong with it; for lists of initialisers. UserError:
// the first thing that is.
template <class Config>
[[nodiscard]] Config checked(Config config) {
  if (const auto problems = validate(config); !problems.empty()) throw UserError(problems.front());
  return config;
}

}  // namespace pacml::env
