#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/selector.h"

namespace pacml::replay {

// The oldest item, always: every draw of a batch is the same one. Priorities are ignored; every
// weight is 1.
class FifoSelector final : public ItemSelector {
 public:
  explicit FifoSelector(std::size_t capacity);

  void insert(std::uint32_t slot, double priority) override;
  void remove(std::uint32_t slot) override;
  void update(std::span<const SlotPriority> priorities) override;
  void select(Rng& rng, std::span<Selection> into) const override;  // draws nothing from `rng`
  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] double total() const override { return static_cast<double>(size_); }

 private:
  // A ring through all items; the link after the last slot is its fixed point: `next` is the oldest
  // item and `previous` the newest. A free slot links to itself.
  struct Link {
    std::uint32_t previous;
    std::uint32_t next;
  };

  std::uint32_t end_;
  std::vector<Link> links_;
  std::size_t size_ = 0;
};

}  // namespace pacml::replay
