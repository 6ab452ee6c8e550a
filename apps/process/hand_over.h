#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pacml::apps {

// A program that stands in the same folder as the running one.
[[nodiscard]] std::filesystem::path program_beside_us(const std::string& name);

// Replaces this process by `program`, which stands in the same folder as the running one, with
// `arguments` (without argv[0]) and single-threaded mathematics (model/math_environment.h).
// UserError: it is not there. Comes back only by an exception.
[[noreturn]] void hand_over(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace pacml::apps
