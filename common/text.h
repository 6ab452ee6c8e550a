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

// The candidate nearest to `word`; the first of equals; empty when there are no candidates. Far
// candidates are answered too: for a short list any valid name helps more than none.
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

// "; did you mean 'x'?", or nothing when there is no candidate: ends a sentence on an unknown name.
template <class Range>
[[nodiscard]] std::string did_you_mean(std::string_view word, const Range& candidates) {
  const std::string nearest = nearest_name(word, candidates);
  return nearest.empty() ? std::string{} : "; did you mean '" + nearest + "'?";
}

}  // namespace pacml
