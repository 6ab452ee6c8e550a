#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

// Sets up spdlog's default logger; log calls are spdlog::info(...) and friends, in .cc files only
// (the header costs five seconds to compile).

namespace pacml {

struct LogSetup {
  std::string role;            // "learner", "actor-3", ...: in every line
  std::string run_id;          // in every line; empty: left out
  std::string level = "info";  // trace, debug, info, warn, error, off
  std::filesystem::path file;  // also written there, appended; empty: stderr only
  // A longer file becomes NAME.1.log (of NAME.log), the one before it NAME.2.log, up to three.
  std::size_t file_bytes = std::size_t{16} << 20;
  bool to_stderr = true;
};

// Replaces the default logger. Each line is flushed. Errors: an unknown level or a file that cannot
// be opened is a UserError. Thread-safe once it has returned.
void set_up_logging(const LogSetup& setup);

}  // namespace pacml
