#pragma once

#include <filesystem>
#include <string>
#include <vector>

// Words that people give their runs, to find them again: a file `tags` in the run's folder, a word
// a line.

namespace pacml::apps {

// UserError: one is empty, longer than 64 characters, or has others than letters, digits, '.', '_'
// and '-'.
void check_tags(const std::vector<std::string>& tags);

// Those of a run, in alphabetical order; none where there is no such file. What is no tag is left
// out.
[[nodiscard]] std::vector<std::string> tags_of(const std::filesystem::path& run);

// Adds to them; the folder is made where it is not there. UserError: as check_tags, or it cannot be
// written.
void add_tags(const std::filesystem::path& run, const std::vector<std::string>& tags);

// Takes all of them away, as far as that can be done.
void forget_tags(const std::filesystem::path& run);

}  // namespace pacml::apps
