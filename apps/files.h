#pragma once

#include <filesystem>
#include <string>
#include <string_view>

// Files that a user names on the command line. Thread-safe.

namespace pacml::apps {

// The whole file. UserError: cannot be read.
[[nodiscard]] std::string read_user_file(const std::filesystem::path& path);

// Replaces the file, whole or not at all. UserError: cannot be written.
void write_user_file(const std::filesystem::path& path, std::string_view text);

}  // namespace pacml::apps
