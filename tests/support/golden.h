#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/atomic_file.h"
#include "tests/support/catch.h"

namespace pacml::testing {

// A path below the source tree, which CTest names; by hand: run from its root.
inline std::filesystem::path source_path(const std::string& relative) {
  const char* root = std::getenv("PACML_SOURCE_DIR");
  return std::filesystem::path(root == nullptr ? "." : root) / relative;
}

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
