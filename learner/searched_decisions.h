#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "common/rng.h"

namespace pacml::learner {

// Decisions and what a search found their valid candidates to be worth. Value type; using one again
// saves its allocations.
struct SearchedDecisions {
  Observations observations;            // [N]
  std::vector<float> action_values;     // of the rows in turn, and of each in the order of its mask
  std::vector<std::size_t> values_end;  // [N], where those of a row end

  [[nodiscard]] std::size_t size() const { return values_end.size(); }
  [[nodiscard]] std::span<const float> values(std::size_t n) const {
    const std::size_t begin = n == 0 ? 0 : values_end[n - 1];
    return std::span(action_values).subspan(begin, values_end[n] - begin);
  }
  void clear();
  // Adds a row of a store with one value for each valid candidate (PACML_CHECK).
  void append(const Observations& from, std::size_t row, std::span<const float> values);
};

// The newest searched decisions, for drawing. The oldest go as new ones come. Thread-confined.
class SearchMemory {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  // Takes in what came at a time. The oldest go where without them at least `capacity` are left.
  void add(SearchedDecisions decisions, std::size_t capacity);
  // Adds one, each as likely as the other. Pre: size() > 0 (PACML_CHECK).
  void draw(Rng& rng, SearchedDecisions& out) const;

 private:
  std::size_t size_ = 0;
  std::deque<SearchedDecisions> rounds_;  // the oldest first
};

}  // namespace pacml::learner
