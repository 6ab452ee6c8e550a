#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace pacml::testing {

// A path below the source tree, which CTest names; by hand: run from its root.
inline std::filesystem::path source_path(const std::string& relative) {
  const char* root = std::getenv("PACML_SOURCE_DIR");
  return std::filesystem::path(root == nullptr ? "." : root) / relative;
}

}  // namespace pacml::testing
