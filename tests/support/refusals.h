#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"

// What a user got wrong: one sentence, exit code 2, and every file as it was.

namespace pacml::testing {

// Every file with its content, every folder; a lock is no content.
inline std::map<std::string, std::string> files_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto& file = entry.path();
    if (file.filename() == ".lock" || file.extension() == ".lock") continue;
    files[entry.path()] = entry.is_regular_file() ? text_of(entry.path()) : "";
  }
  return files;
}

// Expects a refusal with a sentence that contains `parts`, and nothing changed in the workplace.
// `code`: 75 where the reason may pass by itself.
inline void check_refused(const Workplace& place, const std::vector<std::string>& arguments,
                          const std::vector<std::string>& parts, int code = 2) {
  const auto before = files_in(place / ".");
  const Outcome outcome = pacml(arguments);
  std::string command = "pacml";
  for (const auto& word : arguments) command += " " + word;
  INFO(command << "\n" << outcome.err);
  CHECK(outcome.code == code);
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
  CHECK_THAT(outcome.err, Catch::StartsWith("pacml: "));
  for (const auto& part : parts) CHECK_THAT(outcome.err, Catch::Contains(part));
  CHECK(files_in(place / ".") == before);
}

}  // namespace pacml::testing
