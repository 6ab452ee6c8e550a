#pragma once

#include <filesystem>
#include <string>

namespace pacml {

// What a file or folder is called: the last part of its path, also behind a closing slash, and with
// `.` and `..` resolved from the working folder. Empty: the root.
[[nodiscard]] std::string base_name(const std::filesystem::path& path);

}  // namespace pacml
