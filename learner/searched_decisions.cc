#include "learner/searched_decisions.h"

#include <utility>

#include "common/check.h"

namespace pacml::learner {

void SearchedDecisions::clear() {
  observations.clear();
  action_values.clear();
  values_end.clear();
}

void SearchedDecisions::append(const Observations& from, std::size_t row,
                               std::span<const float> values) {
  PACML_CHECK(from.num_valid(row) == values.size(), "one value for each valid candidate");
  if (observations.shape() != from.shape()) {
    PACML_CHECK(values_end.empty(), "rows of one shape");
    observations = Observations(from.shape());
  }
  observations.append_row(from, row);
  action_values.insert(action_values.end(), values.begin(), values.end());
  values_end.push_back(action_values.size());
}

void SearchMemory::add(SearchedDecisions decisions, std::size_t capacity) {
  if (decisions.size() == 0) return;
  size_ += decisions.size();
  rounds_.push_back(std::move(decisions));
  while (rounds_.size() > 1 && size_ - rounds_.front().size() >= capacity) {
    size_ -= rounds_.front().size();
    rounds_.pop_front();
  }
}

void SearchMemory::draw(Rng& rng, SearchedDecisions& out) const {
  PACML_CHECK(size_ > 0, "there is something to draw");
  std::size_t number = rng.below(size_);
  auto round = rounds_.begin();
  while (number >= round->size()) number -= (round++)->size();
  out.append(round->observations, number, round->values(number));
}

}  // namespace pacml::learner
