#pragma once

#include <cstdlib>
#include <string>

#include "common/atomic_file.h"
#include "tests/support/catch.h"
#include "tests/support/source_path.h"

namespace pacml::testing {

// Compares with a committed file. PACML_UPDATE_GOLDEN=1 rewrites it, and the difference is reviewed
// like code.
inline void check_golden(const std::string& relative, const std::string& actual) {
  const auto path = source_path(relative);
  if (std::getenv("PACML_UPDATE_GOLDEN") != nullptr) {
    REQUIRE(write_file_atomically(path, actual));
    return;
  }
  INFO("golden file " << path << "; PACML_UPDATE_GOLDEN=1 accepts the change");
  const auto expected = read_file(path);
  REQUIRE(expected.has_value());
  REQUIRE(actual == *expected);
}

}  // namespace pacml::testing
