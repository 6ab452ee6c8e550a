#include "replay/sum_tree.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.h"

using pacml::replay::SumTree;

namespace {

std::uint32_t find(const SumTree& tree, double target) {
  std::uint32_t index = 0;
  tree.find({&target, 1}, {&index, 1});
  return index;
}

}  // namespace

TEST_CASE("a sum tree finds the weight that a prefix of the sum ends in") {
  SumTree tree(10);
  for (std::uint32_t i = 0; i < 10; ++i) tree.set(i, i);  // 0 + 1 + ... + 9
  CHECK(tree.total() == 45);
  CHECK(find(tree, 0) == 1);
  CHECK(find(tree, 0.999) == 1);
  CHECK(find(tree, 1) == 2);
  CHECK(find(tree, 35.999) == 8);
  CHECK(find(tree, 36) == 9);
  CHECK(find(tree, 44.999) == 9);
}

TEST_CASE("a target on the right edge finds the last positive weight, at every capacity") {
  for (const std::uint32_t capacity : {1U, 2U, 7U, 8U, 9U, 63U, 64U, 65U, 511U, 513U, 5000U}) {
    SumTree tree(capacity);
    const std::uint32_t last = capacity / 2;
    for (std::uint32_t i = 0; i <= last; ++i) tree.set(i, 0.1);
    const double total = tree.total();
    CAPTURE(capacity);
    CHECK(find(tree, std::nextafter(total, 0.0)) == last);
    CHECK(find(tree, total) == last);
    CHECK(find(tree, 2 * total) == last);
  }
}

TEST_CASE("a weight of zero is never found, whatever surrounds it") {
  for (const double weight : {std::numeric_limits<double>::denorm_min(), 1e-12, 1.0, 1e300}) {
    for (std::uint32_t only = 0; only < 100; ++only) {
      SumTree tree(100);
      tree.set(only, weight);
      for (const double part : {0.0, 0.5, 1.0}) CHECK(find(tree, part * weight) == only);
    }
  }
}

TEST_CASE("a small weight survives a large one that came and went") {
  SumTree tree(1000);
  tree.set(3, 1e-12);
  tree.set(4, 1e12);
  tree.set(999, 1e-12);
  tree.set(4, 0);
  CHECK(tree.total() == 2e-12);
  CHECK(find(tree, 0.5e-12) == 3);
  CHECK(find(tree, 1.5e-12) == 999);
}

TEST_CASE("of several weights for one index in a batch, the last one stays") {
  SumTree tree(100);
  const std::vector<SumTree::Entry> entries = {{5, 1.0}, {70, 2.0}, {5, 3.0}, {70, 0.5}};
  tree.set(entries);
  CHECK(tree.weight(5) == 3);
  CHECK(tree.weight(70) == 0.5);
  CHECK(tree.total() == 3.5);
  tree.set(std::span<const SumTree::Entry>{});
  CHECK(tree.total() == 3.5);
}
