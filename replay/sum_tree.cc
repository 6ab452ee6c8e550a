#include "replay/sum_tree.h"

#include <algorithm>

#include "common/check.h"

namespace pacml::replay {
namespace {

constexpr std::size_t kTouchedMost = 1024;  // their leaves are still in the cache

}  // namespace

// Halves are added to halves: the same additions in the same order with SIMD of every width.
double SumTree::sum_of(const Node& node) {
  std::array<double, kFan> sums = node.child;
  for (std::size_t half = kFan / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

SumTree::SumTree(std::size_t capacity) : capacity_(capacity) {
  PACML_CHECK(capacity >= 1 && capacity <= (std::size_t{1} << 32), "indices have 32 bits");
  std::size_t nodes = capacity;
  do {
    nodes = (nodes + kFan - 1) / kFan;
    levels_.emplace_back(nodes);
  } while (nodes > 1);
  touched_.reserve(kTouchedMost);
}

double SumTree::weight(std::uint32_t index) const {
  return levels_[0][index / kFan].child[index % kFan];
}

void SumTree::set(std::uint32_t index, double weight) {
  const std::uint32_t node = index / kFan;
  levels_[0][node].child[index % kFan] = weight;
  if (!touched_.empty() && touched_.back() == node) return;  // neighbours change together
  touched_.push_back(node);
  if (touched_.size() == kTouchedMost) settle();
}

void SumTree::set(std::span<const Entry> entries) {
  for (const Entry& entry : entries) __builtin_prefetch(&levels_[0][entry.index / kFan], 1);
  for (const Entry& entry : entries) set(entry.index, entry.weight);
}

double SumTree::total() const {
  settle();
  return total_;
}

bool SumTree::operator==(const SumTree& other) const {
  settle();
  other.settle();
  return capacity_ == other.capacity_ && levels_ == other.levels_ && total_ == other.total_;
}

// Level by level, so that the sums of one level do not wait for one another.
void SumTree::settle() const {
  if (touched_.empty()) return;
  for (std::size_t k = 0; k + 1 < levels_.size(); ++k) {
    auto& parents = levels_[k + 1];
    std::uint32_t last = UINT32_MAX;
    std::size_t kept = 0;
    for (const std::uint32_t node : touched_) {
      const std::uint32_t parent = node / kFan;
      parents[parent].child[node % kFan] = sum_of(levels_[k][node]);
      if (parent != last) touched_[kept++] = parent;
      last = parent;
    }
    touched_.resize(kept);
  }
  touched_.clear();
  total_ = sum_of(levels_.back()[0]);
}

// The child that `target` points at; what stands before it is taken off the target. A child of 0 is
// never the first whose prefix sum is above the target. Where rounding leaves no such child, the
// last positive one is it, and the target stays on its right edge.
std::uint32_t SumTree::child_at(const Node& node, double& target) {
  double before = 0;
  double prefix = 0;
  std::uint32_t index = 0;
  for (const double weight : node.child) {
    prefix += weight;
    const bool passed = prefix <= target;
    before = passed ? prefix : before;
    index += passed ? 1 : 0;
  }
  if (index < kFan) [[likely]] {
    target -= before;
    return index;
  }
  do --index;
  while (node.child[index] == 0);
  target = node.child[index];
  return index;
}

void SumTree::find(std::span<double> targets, std::span<std::uint32_t> indices) const {
  PACML_CHECK(targets.size() == indices.size(), "one index per target");
  PACML_CHECK(total() > 0, "nothing to draw from");
  // Level by level, so that the nodes of the next one are on their way from memory.
  std::fill(indices.begin(), indices.end(), 0);
  for (std::size_t k = levels_.size(); k-- > 0;) {
    const auto& level = levels_[k];
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const std::uint32_t node = indices[i];
      indices[i] = node * kFan + child_at(level[node], targets[i]);
      if (k > 0) __builtin_prefetch(&levels_[k - 1][indices[i]]);
    }
  }
}

}  // namespace pacml::replay
