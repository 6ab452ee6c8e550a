#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/rng.h"

namespace pacml::replay {

// The largest priority that is believed: 2^32 of them still have a finite sum.
inline constexpr double kMaxPriority = 1e290;

// From 0 to kMaxPriority; NaN is not.
[[nodiscard]] inline bool is_priority(double value) { return value >= 0 && value <= kMaxPriority; }

// Draws that a selector looks up together, so that their waits for memory overlap.
inline constexpr std::size_t kDrawsAtOnce = 256;

struct SlotPriority {
  std::uint32_t slot = 0;
  double priority = 0;
};

struct Selection {
  std::uint32_t slot = 0;
  double probability = 0;  // of this draw
};

// Which item next: the seam of sampling and of removal. Items are slots below a capacity.
//
// What a selector answers is a pure function of its items (slots, priorities, the order in which
// they were inserted) and of the random stream, never of removals and updates in the past. So a
// selector that is given a snapshot's items in their order goes on bit for bit.
//
// Thread-confined. Broken preconditions are PACML_CHECKs.
class ItemSelector {
 public:
  virtual ~ItemSelector() = default;

  // Pre: the slot is free and below the capacity, is_priority(priority).
  virtual void insert(std::uint32_t slot, double priority) = 0;
  // Pre: the slot is taken.
  virtual void remove(std::uint32_t slot) = 0;
  // Of several priorities for one slot, the last one stays. Pre: the slots are taken, priorities
  // are priorities.
  virtual void update(std::span<const SlotPriority> priorities) = 0;
  // Independent draws, with replacement; a batch draws what so many single calls would. Pre:
  // size() > 0.
  virtual void select(Rng& rng, std::span<Selection> into) const = 0;

  [[nodiscard]] virtual std::size_t size() const = 0;
  // Sum of the items' weights: an item is drawn with probability weight / total().
  [[nodiscard]] virtual double total() const = 0;
};

}  // namespace pacml::replay
