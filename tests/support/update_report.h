#pragma once

#include <string_view>

#include "learner/algorithm.h"
#include "tests/support/catch.h"

namespace pacml::learner {

// What an update says under that name.
inline double scalar(const UpdateReport& report, std::string_view name) {
  for (const auto& [key, value] : report.scalars) {
    if (key == name) return value;
  }
  FAIL("no scalar " << name);
  return 0;
}

}  // namespace pacml::learner
