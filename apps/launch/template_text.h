#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

// Texts with holes, for files that other programs read. Pure.

namespace pacml::apps {

struct TemplateValues {
  std::map<std::string, std::string, std::less<>> values;  // NAME -> what @NAME@ becomes
  std::set<std::string, std::less<>> conditions;           // that hold
};

// Replaces each @NAME@ (capitals and underscores) by its value, and keeps a line that ends in
// "#? CONDITION", or "#? !CONDITION", only where the condition holds, or does not, without that
// ending. So a template is by itself a file of its kind. What is put in is not looked at again.
// std::logic_error: a name without a value, or a value that no line uses.
[[nodiscard]] std::string fill_template(std::string_view text, const TemplateValues& values);

// As one word of a POSIX shell, whatever it holds: itself where that is safe, else in single
// quotes.
[[nodiscard]] std::string shell_word(std::string_view text);
// Such words with blanks between them. Any range of strings.
template <class Range>
[[nodiscard]] std::string shell_words(const Range& words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

// Each line that is not empty, moved to the right.
[[nodiscard]] std::string indented(std::string_view text, int columns);

}  // namespace pacml::apps
