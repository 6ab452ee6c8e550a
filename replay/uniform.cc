#include "replay/uniform.h"

#include <algorithm>
#include <array>

#include "common/check.h"

namespace pacml::replay {

void UniformSelector::insert(std::uint32_t slot, double /*priority*/) {
  PACML_CHECK(slot < tree_.capacity() && tree_.weight(slot) == 0, "a slot holds one item");
  tree_.set(slot, 1.0);
  ++size_;
}

void UniformSelector::remove(std::uint32_t slot) {
  PACML_CHECK(slot < tree_.capacity() && tree_.weight(slot) != 0, "an item is removed once");
  tree_.set(slot, 0.0);
  --size_;
}

void UniformSelector::update(std::span<const SlotPriority> /*priorities*/) {}

void UniformSelector::select(Rng& rng, std::span<Selection> into) const {
  PACML_CHECK(size_ > 0, "nothing to draw from");
  std::array<double, kDrawsAtOnce> targets{};
  std::array<std::uint32_t, kDrawsAtOnce> slots{};
  while (!into.empty()) {
    const std::size_t n = std::min(into.size(), kDrawsAtOnce);
    // Whole numbers, so that no item is favoured by rounding.
    for (std::size_t i = 0; i < n; ++i) targets[i] = static_cast<double>(rng.below(size_));
    tree_.find(std::span(targets).first(n), std::span(slots).first(n));
    for (std::size_t i = 0; i < n; ++i) into[i] = {slots[i], 1.0 / static_cast<double>(size_)};
    into = into.subspan(n);
  }
}

}  // namespace pacml::replay
