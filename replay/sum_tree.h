#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pacml::replay {

// Weights, their sum, and the weight that a prefix of the sum ends in: what drawing in proportion
// needs. A flat tree of sums with 8 children a node, which
// is a cache line (docs/adr/0007-the-sampling-structure.md).
//
// Every inner value is recomputed from its children, in one fixed order of additions. So the tree
// is a pure function of its present weights: it cannot drift, a rebuilt one is equal bit for bit,
// and every machine computes the same. Its total is within a relative 1e-14 of the true one. The
// sums above changed weights are brought up to date when they are asked for, many at a time.
//
// Thread-confined, const functions included.
class SumTree {
 public:
  struct Entry {
    std::uint32_t index = 0;
    double weight = 0;
  };

  // All weights are 0. Pre: 1 <= capacity <= 2^32; it need not be a power of anything.
  explicit SumTree(std::size_t capacity);

  // Pre: index < capacity; weight >= 0; the sum stays finite.
  void set(std::uint32_t index, double weight);
  // In order: of several weights for one index, the last one stays.
  void set(std::span<const Entry> entries);

  // For each target in [0, total()): the index that owns this point when the weights lie side by
  // side; up to rounding at the borders, but never one whose weight is 0, and never none: targets
  // that rounding carried to total() find the last positive weight. The targets are used up.
  // Pre: total() > 0; one index per target.
  void find(std::span<double> targets, std::span<std::uint32_t> indices) const;

  [[nodiscard]] double weight(std::uint32_t index) const;
  [[nodiscard]] double total() const;
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  // Bit for bit, inner sums included.
  bool operator==(const SumTree& other) const;

 private:
  static constexpr std::uint32_t kFan = 8;
  struct alignas(64) Node {
    std::array<double, kFan> child{};
    bool operator==(const Node&) const = default;
  };

  [[nodiscard]] static double sum_of(const Node& node);
  [[nodiscard]] static std::uint32_t child_at(const Node& node, double& target);

  void settle() const;

  std::size_t capacity_;
  // Leaves first; the last level is one node. Sums above a leaf that is listed in touched_ wait for
  // settle().
  mutable std::vector<std::vector<Node>> levels_;
  mutable double total_ = 0;
  mutable std::vector<std::uint32_t> touched_;  // leaf nodes; neighbours in the list differ
};

}  // namespace pacml::replay
