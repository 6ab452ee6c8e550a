#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "replay/selector.h"
#include "replay/sum_tree.h"

namespace pacml::replay {

// Every item with the same probability. Priorities are ignored; every weight is 1. A sum tree of
// ones rather than a dense list of slots, whose order would depend on past removals.
class UniformSelector final : public ItemSelector {
 public:
  explicit UniformSelector(std::size_t capacity) : tree_(capacity) {}

  void insert(std::uint32_t slot, double priority) override;
  void remove(std::uint32_t slot) override;
  void update(std::span<const SlotPriority> priorities) override;
  void select(Rng& rng, std::span<Selection> into) const override;
  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] double total() const override { return tree_.total(); }

 private:
  SumTree tree_;
  std::size_t size_ = 0;
};

}  // namespace pacml::replay
