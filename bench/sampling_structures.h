#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/rng.h"
#include "replay/sum_tree.h"

// What replay/sum_tree.h was chosen over (docs/adr/0007-the-sampling-structure.md), kept so that
// the choice can be measured again. Only good enough for that. Thread-confined.

namespace pacml::bench {

using replay::SumTree;

// The textbook's: a complete binary tree in an array, one operation at a time.
class BinarySumTree {
 public:
  explicit BinarySumTree(std::size_t capacity);
  void set(std::uint32_t index, double weight);
  void set(std::span<const SumTree::Entry> entries);
  // Pre: the total is positive.
  void draw(Rng& rng, std::span<std::uint32_t> indices) const;

 private:
  std::size_t leaves_ = 1;     // a power of two
  std::vector<double> nodes_;  // the root is 1, the leaves begin at leaves_
};

// Weights by their exponents: a bucket holds those of one power of two, whose mantissas it adds up
// as integers, exactly. A draw chooses a bucket by its sum, then an item of it with equal chances,
// which it keeps with probability weight / 2^(exponent + 1), at least one half, or draws again.
// Weights are cut to 40 bits and must lie between 2^-64 and 2^63, or be 0.
class ExponentBuckets {
 public:
  explicit ExponentBuckets(std::size_t capacity) : places_(capacity) {}
  void set(std::uint32_t index, double weight);
  void set(std::span<const SumTree::Entry> entries);
  // Pre: a weight is positive.
  void draw(Rng& rng, std::span<std::uint32_t> indices) const;

 private:
  static constexpr int kBuckets = 128;
  static constexpr std::uint32_t kNowhere = kBuckets;
  struct Member {
    std::uint32_t index;
    std::uint64_t mantissa;  // in [2^39, 2^40)
  };
  struct Place {
    std::uint32_t bucket = kNowhere;
    std::uint32_t position = 0;
  };

  std::vector<Place> places_;
  std::array<std::vector<Member>, kBuckets> buckets_;
  std::array<std::uint64_t, kBuckets> sums_{};
};

// SumTree behind the same functions.
class WideSumTree {
 public:
  explicit WideSumTree(std::size_t capacity) : tree_(capacity) {}
  void set(std::uint32_t index, double weight) { tree_.set(index, weight); }
  void set(std::span<const SumTree::Entry> entries) { tree_.set(entries); }
  void draw(Rng& rng, std::span<std::uint32_t> indices) const;

 private:
  SumTree tree_;
};

}  // namespace pacml::bench
