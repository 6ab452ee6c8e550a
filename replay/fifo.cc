#include "replay/fifo.h"

#include <algorithm>

#include "common/check.h"

namespace pacml::replay {

FifoSelector::FifoSelector(std::size_t capacity)
    : end_(static_cast<std::uint32_t>(capacity)), links_(capacity + 1) {
  PACML_CHECK(capacity >= 1 && capacity < UINT32_MAX, "slots have 32 bits, one is the ring's end");
  for (std::uint32_t slot = 0; slot <= end_; ++slot) links_[slot] = {slot, slot};
}

void FifoSelector::insert(std::uint32_t slot, double /*priority*/) {
  PACML_CHECK(slot < end_ && links_[slot].next == slot, "a slot holds one item");
  const std::uint32_t newest = links_[end_].previous;
  links_[slot] = {newest, end_};
  links_[newest].next = slot;
  links_[end_].previous = slot;
  ++size_;
}

void FifoSelector::remove(std::uint32_t slot) {
  PACML_CHECK(slot < end_ && links_[slot].next != slot, "an item is removed once");
  const Link link = links_[slot];
  links_[link.previous].next = link.next;
  links_[link.next].previous = link.previous;
  links_[slot] = {slot, slot};
  --size_;
}

void FifoSelector::update(std::span<const SlotPriority> /*priorities*/) {}

void FifoSelector::select(Rng& /*rng*/, std::span<Selection> into) const {
  PACML_CHECK(size_ > 0, "nothing to draw from");
  std::fill(into.begin(), into.end(), Selection{links_[end_].next, 1.0});
}

}  // namespace pacml::replay
