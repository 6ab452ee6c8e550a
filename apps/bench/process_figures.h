#pragma once

#include <sys/types.h>

#include <optional>

namespace pacml::apps {

// What a process has used so far.
struct ProcessFigures {
  double cpu_seconds = 0;     // in user and system mode, of all its threads
  double resident_bytes = 0;  // now
};

// Of a process of this machine, as the system tells it; nullopt: there is none.
[[nodiscard]] std::optional<ProcessFigures> figures_of(pid_t pid);

}  // namespace pacml::apps
