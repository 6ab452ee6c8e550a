#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
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
  // The entry of that number, made if there is none; until the next call.
  T& operator[](std::uint64_t number) {
    if (2 * (used_ + 1) > entries_.size()) grow();
    Entry& entry = find(number);
    if (!entry.number) {
      entry.number = number;
      ++used_;
    }
    return entry.value;
  }
  [[nodiscard]] std::size_t size() const { return used_; }
  [[nodiscard]] std::size_t bytes() const { return entries_.size() * sizeof(Entry); }
  void clear() { *this = {}; }

 private:
  struct Entry {
    std::optional<std::uint64_t> number;
    T value{};
  };
  static constexpr std::size_t kFirst = 8;

  Entry& find(std::uint64_t number) {
    // The product's upper bits are those that all of the number's have a say in.
    std::size_t at = (number * kGoldenGamma) >> (64 - std::countr_zero(entries_.size()));
    while (entries_[at].number && *entries_[at].number != number) {
      at = (at + 1) & (entries_.size() - 1);
    }
    return entries_[at];
  }
  void grow() {
    std::vector<Entry> before(entries_.empty() ? kFirst : 2 * entries_.size());
    std::swap(before, entries_);
    for (Entry& entry : before) {
      if (entry.number) find(*entry.number) = std::move(entry);
    }
  }

  std::vector<Entry> entries_;  // a power of two of them
  std::size_t used_ = 0;
};

}  // namespace pacml::env
