#include "apps/cli/outputs.h"

#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

#include "apps/cli/files.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const OptionSpec& spec) {
  std::vector<std::string> words;
  std::visit(
      [&words](const auto* target) {
        using Target = std::remove_cvref_t<decltype(*target)>;
        if constexpr (std::is_same_v<Target, std::string>) words.push_back(*target);
        if constexpr (std::is_same_v<Target, std::vector<std::string>>) words = *target;
        if constexpr (std::is_same_v<Target, std::optional<std::string>>) {
          if (*target) words.push_back(**target);
        }
      },
      spec.target);
  std::erase(words, "");
  return words;
}

bool is_device(const fs::path& path) {
  std::error_code ignored;
  return fs::is_other(path, ignored);
}

// Also of links, and of a file that is not there yet.
bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code error;
  if (fs::equivalent(one, other, error)) return true;
  const fs::path whole = fs::weakly_canonical(one, error);
  return !error && whole == fs::weakly_canonical(other, error) && !error;
}

// "FILE", the file in "KEY=FILE", one of several in "FILE,FILE" or "KEY=[FILE, FILE]", each also
// with something behind it as in "FILE+search:K=64".
bool names_file(const std::string& word, const fs::path& file) {
  if (word.empty()) return false;
  if (is_same_file(word, file)) return true;
  if (const auto comma = word.find(','); comma != std::string::npos) {
    return names_file(word.substr(0, comma), file) || names_file(word.substr(comma + 1), file);
  }
  constexpr std::string_view kAround = " '\"[]";
  const std::size_t first = word.find_first_not_of(kAround);
  if (first == std::string::npos) return false;
  const std::string bare = word.substr(first, word.find_last_not_of(kAround) - first + 1);
  if (bare != word) return names_file(bare, file);
  if (const auto equals = word.find('='); equals != std::string::npos) {
    if (names_file(word.substr(equals + 1), file)) return true;
  }
  const auto plus = word.rfind('+');
  return plus != std::string::npos && names_file(word.substr(0, plus), file);
}

void check_not_named_again(const Options& options, const OptionSpec& output,
                           const std::string& file) {
  for (const OptionSpec& other : options.specs()) {
    if (&other == &output) continue;
    for (const std::string& word : words_of(other)) {
      if (!names_file(word, file)) continue;
      const bool is_written = other.writes != Writes::kNothing;
      // A word that is no file's name may well be the same.
      std::error_code ignored;
      if (!is_written && !fs::exists(file, ignored)) continue;
      throw UserError(output.name + " " + file + " is what " + other.name +
                      (is_written ? " is to be written to; name two files"
                                  : " names, and would be overwritten; name another file"));
    }
  }
}

}  // namespace

void check_outputs(const Options& options,
                   const std::function<void(const std::filesystem::path&)>& refuse) {
  for (const OptionSpec& spec : options.specs()) {
    if (spec.writes == Writes::kNothing) continue;
    for (const std::string& file : words_of(spec)) {
      std::error_code ignored;
      const bool is_folder = fs::is_directory(file, ignored);
      if (spec.writes == Writes::kFile) check_writable(file);
      if (is_folder || is_device(file)) continue;
      check_not_named_again(options, spec, file);
      if (!refuse) continue;
      try {
        refuse(file);
      } catch (const UserError& error) {
        throw UserError(spec.name + ": " + error.what());
      }
    }
  }
}

}  // namespace pacml::apps
