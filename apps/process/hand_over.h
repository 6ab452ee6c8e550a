#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pacml::apps {

// A program that stands in the same folder as the running one.
[[nodiscard]] std::filesystem::path program_beside_us(const std::string& name);

// Replaces this process by `program`, which stands in the same folder as the running one, with
// `arguments` (without argv[0]) and single-threaded mathematics (see below). UserError: it is not
// there. Comes back only by an exception.
[[noreturn]] void hand_over(const std::string& program, const std::vector<std::string>& arguments);

// OpenBLAS and OpenMP read their thread counts once, while the program loads, and two threads are
// slower than one on our matrix sizes: so these variables must be right before exec, whatever the
// shell or the batch system had set. True: they were. Thread-confined: before any other thread.
bool set_single_threaded_math();

// Starts the running program once more, with the same arguments. Comes back only by an exception.
[[noreturn]] void restart_self(char** argv);

}  // namespace pacml::apps
