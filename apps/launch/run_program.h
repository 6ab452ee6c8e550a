#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace pacml::apps {

// Finds a program on PATH, as a shell does. UserError: it is not there.
[[nodiscard]] std::string find_program(const std::string& name);

// Runs a program (found on PATH) to its end; what it prints on stdout. Thread-safe.
// UserError: it is not there, takes longer than `patience`, or fails; the sentence has what it
// said.
[[nodiscard]] std::string output_of(const std::vector<std::string>& command,
                                    std::chrono::seconds patience = std::chrono::seconds(120));

}  // namespace pacml::apps
