#pragma once

#include <filesystem>
#include <string>
#include <string_view>

// Files that a user names on the command line. Thread-safe.

namespace pacml::apps {

// The whole file. UserError, or TryAgainError where that may pass: cannot be read.
[[nodiscard]] std::string read_user_file(const std::filesystem::path& path);

// Replaces the file, whole or not at all; writes into what is no plain file, such as /dev/stdout.
// UserError, or TryAgainError: cannot be written.
void write_user_file(const std::filesystem::path& path, std::string_view text);

// The same, but that nothing is written where the file says that already: a disk that is full or
// away does no harm then.
void keep_user_file(const std::filesystem::path& path, std::string_view text);

// As far as can be told without writing: to ask before long work. UserError as above.
void check_writable(const std::filesystem::path& path);

}  // namespace pacml::apps
