#pragma once

#include <sys/types.h>

#include <fstream>
#include <optional>
#include <string>

namespace pacml::testing {

// What Linux says that a process does: 'R' it runs, 'S' it sleeps, 'Z' it has ended and nobody has
// reaped it, ... Nothing: there is none of that number.
inline std::optional<char> process_state(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const auto name_ends = stat.rfind(')');  // a name may hold anything
  if (name_ends == std::string::npos || name_ends + 2 >= stat.size()) return std::nullopt;
  return stat[name_ends + 2];
}

// It has ended, whether anybody has reaped it or not.
inline bool has_ended(pid_t pid) { return process_state(pid).value_or('Z') == 'Z'; }

}  // namespace pacml::testing
