#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace pacml::testing {

// A program that stands in for another one. `text` begins with "#!".
inline void write_script(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

}  // namespace pacml::testing
