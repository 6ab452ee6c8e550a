#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Small helpers for sentences to people. Pure.

namespace pacml {

// "a, b, c". Any range of things that append to a string.
template <class Range>
[[nodiscard]] std::string join(const Range& parts, std::string_view separator = ", ") {
  std::string text;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) text += separator;
    first = false;
    text += part;
  }
  return text;
}

// Insertions, deletions and replacements of one character that turn `a` into `b` (Levenshtein).
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// The candidate nearest to `word`, however far; the first of equals; empty when there are none.
template <class Range>
[[nodiscard]] std::string nearest_name(std::string_view word, const Range& candidates) {
  std::string best;
  std::size_t best_distance = static_cast<std::size_t>(-1);
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

// Whether somebody may have meant `name` and typed `word`: half of it is wrong at most, or one
// begins with the other.
[[nodiscard]] inline bool is_near_name(std::string_view word, std::string_view name) {
  if (word.empty()) return false;
  if (name.starts_with(word) || word.starts_with(name)) return true;
  return edit_distance(word, name) <=
         std::max<std::size_t>(1, std::max(word.size(), name.size()) / 2);
}

// Ends a sentence on an unknown name that says which there are: "; did you mean 'x'?", or nothing
// where none is near.
template <class Range>
[[nodiscard]] std::string name_meant(std::string_view word, const Range& candidates) {
  const std::string nearest = nearest_name(word, candidates);
  if (nearest.empty() || !is_near_name(word, nearest)) return {};
  return "; did you mean '" + nearest + "'?";
}

// The same of a sentence that does not: "; there are x, y, z" where none is near and the list is
// short.
template <class Range>
[[nodiscard]] std::string did_you_mean(std::string_view word, const Range& candidates) {
  constexpr std::size_t kShort = 100;  // characters
  if (std::string meant = name_meant(word, candidates); !meant.empty()) return meant;
  if (nearest_name(word, candidates).empty()) return {};  // there is nothing that has a name
  std::string list;
  for (const auto& candidate : candidates) {
    list += list.empty() ? "; there are " : ", ";
    list += candidate;
    if (list.size() > kShort) return {};
  }
  return list;
}

}  // namespace pacml
