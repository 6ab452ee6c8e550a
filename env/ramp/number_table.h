#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/rng.h"

namespace pacml::env {

// What is known by a number, for numbers that come up again and again in a loop that is all memory:
// entries lie one beside the other (open addressing, linear probing, never more than half full), so
// that most are found at the first place that is looked at. Value type. Nothing is removed but all.
template <class T>
class NumberTable {
 public:
  // The entry of that number, made if there is none; until the next call. Pre: number < 2^64 - 1.
  T& operator[](std::uint64_t number) {
    if (2 * (used_ + 1) > entries_.size()) grow();
    Entry& entry = entries_[place_of(number)];
    if (entry.key == kFree) {
      entry.key = number + 1;
      ++used_;
    }
    return entry.value;
  }
  // The same, or null if there is none.
  [[nodiscard]] const T* find(std::uint64_t number) const {
    if (entries_.empty()) return nullptr;
    const Entry& entry = entries_[place_of(number)];
    return entry.key == kFree ? nullptr : &entry.value;
  }
  [[nodiscard]] std::size_t size() const { return used_; }
  [[nodiscard]] std::size_t bytes() const { return entries_.size() * sizeof(Entry); }
  void clear() { *this = {}; }

 private:
  struct Entry {
    std::uint64_t key = kFree;  // the number + 1
    T value{};
  };
  static constexpr std::uint64_t kFree = 0;
  static constexpr std::size_t kFirst = 8;

  // Where it is, or would be. Pre: there are entries, some of which are free.
  [[nodiscard]] std::size_t place_of(std::uint64_t number) const {
    // The product's upper bits are those that all of the number's have a say in.
    std::size_t at = (number * kGoldenGamma) >> (64 - std::countr_zero(entries_.size()));
    while (entries_[at].key != kFree && entries_[at].key != number + 1) {
      at = (at + 1) & (entries_.size() - 1);
    }
    return at;
  }
  void grow() {
    std::vector<Entry> before(entries_.empty() ? kFirst : 2 * entries_.size());
    std::swap(before, entries_);
    for (Entry& entry : before) {
      if (entry.key != kFree) entries_[place_of(entry.key - 1)] = std::move(entry);
    }
  }

  std::vector<Entry> entries_;  // a power of two of them
  std::size_t used_ = 0;
};

}  // namespace pacml::env
