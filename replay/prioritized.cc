#include "replay/prioritized.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/check.h"

namespace pacml::replay {

PrioritizedSelector::PrioritizedSelector(std::size_t capacity, double alpha)
    : alpha_(alpha), tree_(capacity), items_(capacity) {
  PACML_CHECK(alpha >= 0 && alpha <= 1, "the priority exponent is from 0 to 1");
}

// std::pow(0, 0) would be 1.
double PrioritizedSelector::weight_of(double priority) const {
  return priority == 0 ? 0 : std::pow(priority, alpha_);
}

void PrioritizedSelector::insert(std::uint32_t slot, double priority) {
  PACML_CHECK(slot < tree_.capacity() && !items_.contains(slot), "a slot holds one item");
  PACML_CHECK(is_priority(priority), "priorities are checked before");
  tree_.set(slot, weight_of(priority));
  items_.add(slot);
  ++size_;
}

void PrioritizedSelector::remove(std::uint32_t slot) {
  PACML_CHECK(slot < tree_.capacity() && items_.contains(slot), "an item is removed once");
  tree_.set(slot, 0);
  items_.erase(slot);
  --size_;
}

void PrioritizedSelector::update(std::span<const SlotPriority> priorities) {
  entries_.clear();
  for (const auto& [slot, priority] : priorities) {
    PACML_CHECK(slot < tree_.capacity() && items_.contains(slot), "an update is for an item");
    PACML_CHECK(is_priority(priority), "priorities are checked before");
    entries_.push_back({slot, weight_of(priority)});
  }
  tree_.set(entries_);
}

void PrioritizedSelector::select(Rng& rng, std::span<Selection> into) const {
  PACML_CHECK(size_ > 0, "nothing to draw from");
  const double total = tree_.total();
  if (total == 0) return select_any(rng, into);
  std::array<double, kDrawsAtOnce> targets{};
  std::array<std::uint32_t, kDrawsAtOnce> slots{};
  while (!into.empty()) {
    const std::size_t n = std::min(into.size(), kDrawsAtOnce);
    for (std::size_t i = 0; i < n; ++i) targets[i] = rng.uniform() * total;
    tree_.find(std::span(targets).first(n), std::span(slots).first(n));
    for (std::size_t i = 0; i < n; ++i) into[i] = {slots[i], tree_.weight(slots[i]) / total};
    into = into.subspan(n);
  }
}

void PrioritizedSelector::select_any(Rng& rng, std::span<Selection> into) const {
  std::vector<std::uint32_t> slots;
  slots.reserve(size_);
  for (auto slot = items_.next(0); slot != SlotSet::kNone; slot = items_.next(slot + 1)) {
    slots.push_back(slot);
  }
  for (auto& selection : into) {
    selection = {slots[rng.below(size_)], 1.0 / static_cast<double>(size_)};
  }
}

}  // namespace pacml::replay
