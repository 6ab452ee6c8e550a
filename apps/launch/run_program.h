#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace pacml::apps {

// A folder that goes with its owner.
class ScratchFolder {
 public:
  // UserError: cannot be made.
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

// Finds a program on PATH, as a shell does. UserError: it is not there.
[[nodiscard]] std::string find_program(const std::string& name);

// Runs a program (found on PATH) to its end; what it prints on stdout. Thread-safe.
// UserError: it is not there, takes longer than `patience`, or fails; the sentence has what it
// said.
[[nodiscard]] std::string output_of(const std::vector<std::string>& command,
                                    std::chrono::seconds patience = std::chrono::seconds(120));

}  // namespace pacml::apps
