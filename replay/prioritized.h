#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/selector.h"
#include "replay/slot_set.h"
#include "replay/sum_tree.h"

namespace pacml::replay {

// In proportion to priority^alpha (Schaul et al. 2016, arXiv:1511.05952). An item of priority 0 has
// weight 0, with every alpha, and is drawn only when all items have: then each is equally likely,
// and a batch takes time in proportion to the capacity.
class PrioritizedSelector final : public ItemSelector {
 public:
  // Pre: alpha in [0, 1].
  PrioritizedSelector(std::size_t capacity, double alpha);

  void insert(std::uint32_t slot, double priority) override;
  void remove(std::uint32_t slot) override;
  void update(std::span<const SlotPriority> priorities) override;
  void select(Rng& rng, std::span<Selection> into) const override;
  [[nodiscard]] std::size_t size() const override { return size_; }
  // 0 when all priorities are.
  [[nodiscard]] double total() const override { return tree_.total(); }

 private:
  [[nodiscard]] double weight_of(double priority) const;
  void select_any(Rng& rng, std::span<Selection> into) const;

  double alpha_;
  SumTree tree_;
  SlotSet items_;
  std::size_t size_ = 0;
  std::vector<SumTree::Entry> entries_;  // scratch of update()
};

}  // namespace pacml::replay
