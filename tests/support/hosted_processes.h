#pragma once

#include <sys/types.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tests/support/pacml_process.h"

// What runs on this machine in the name of hosts that `pacml launch --on ssh` reaches.

namespace pacml::testing {

// Whoever is called "ssh", attends to a role on its host or is one; the first two carry its words.
enum class Who { kClient, kAttendant, kRole };
inline Who who(const std::filesystem::path& process, const std::string& command) {
  if (text_of(process / "comm") == "ssh\n") return Who::kClient;
  return command.find("attendant") != std::string::npos ? Who::kAttendant : Who::kRole;
}

// Those whose command line has all of `parts`.
inline std::vector<pid_t> processes_with(const std::vector<std::string>& parts, Who wanted) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string command = text_of(entry.path() / "cmdline");
    std::ranges::replace(command, '\0', ' ');
    const bool all = std::ranges::all_of(
        parts, [&](const auto& part) { return command.find(part) != std::string::npos; });
    if (all && who(entry.path(), command) == wanted) found.push_back(std::stoi(name));
  }
  return found;
}

}  // namespace pacml::testing
