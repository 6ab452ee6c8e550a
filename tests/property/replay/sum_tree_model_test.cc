// A sum tree against a plain vector, over random operations with weights from 1e-12 to 1e12.
#include <algorithm>
#include <cmath>
#include <vector>

#include "common/rng.h"
#include "replay/sum_tree.h"
#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::replay;

namespace {

double random_weight(Rng& rng) {
  const std::uint64_t kind = rng.below(8);
  if (kind == 0) return 0;
  if (kind == 1) return 1e12;
  if (kind == 2) return 1e-12;
  return std::pow(10, rng.uniform() * 24 - 12);
}

SumTree rebuilt(const std::vector<double>& weights) {
  SumTree tree(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    tree.set(static_cast<std::uint32_t>(i), weights[i]);
  }
  return tree;
}

// Is `index` where `target` points, but for rounding at the borders of that weight?
bool owns(const std::vector<double>& weights, std::uint32_t index, double target) {
  long double before = 0;
  long double all = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (i < index) before += weights[i];
    all += weights[i];
  }
  const long double slack = all * 1e-14L;
  return weights[index] > 0 && target >= before - slack &&
         target <= before + weights[index] + slack;
}

void compare(const SumTree& tree, const std::vector<double>& weights, Rng& rng) {
  REQUIRE(tree == rebuilt(weights));
  long double total = 0;
  for (const double weight : weights) total += weight;
  REQUIRE(std::abs(tree.total() - total) <= 1e-12L * total);
  if (tree.total() == 0) return;
  std::vector<double> targets = {0.0, tree.total(), std::nextafter(tree.total(), 0.0)};
  for (int i = 0; i < 20; ++i) targets.push_back(rng.uniform() * tree.total());
  const std::vector<double> wanted = targets;
  std::vector<std::uint32_t> indices(targets.size());
  tree.find(targets, indices);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    REQUIRE(indices[i] < weights.size());
    REQUIRE(owns(weights, indices[i], wanted[i]));
  }
}

void run(std::uint64_t operations, Rng& rng) {
  std::uint64_t done = 0;
  while (done < operations) {
    const std::size_t capacity = 1 + rng.below(rng.below(4) == 0 ? 20'000 : 600);
    SumTree tree(capacity);
    std::vector<double> weights(capacity);
    std::vector<SumTree::Entry> batch;
    const std::uint64_t end =
        done + std::min<std::uint64_t>(operations / 20 + 1, operations - done);
    const std::uint64_t look = std::max<std::uint64_t>((end - done) / 10, 1);
    for (std::uint64_t next_look = done + look; done < end;) {
      batch.resize(rng.below(2) == 0 ? 1 : rng.below(600));
      for (auto& entry : batch) {
        entry = {static_cast<std::uint32_t>(rng.below(capacity)), random_weight(rng)};
        weights[entry.index] = entry.weight;
      }
      if (batch.size() == 1) {
        tree.set(batch[0].index, batch[0].weight);
      } else {
        tree.set(batch);
      }
      done += batch.size();
      if (done < next_look) continue;
      compare(tree, weights, rng);
      next_look = done + look;
    }
    compare(tree, weights, rng);
  }
}

}  // namespace

TEST_CASE("a sum tree is a function of its weights, over a million operations") {
  Rng rng(Seed{1});
  run(1'000'000, rng);
}

// property_replay "[.long]" runs it, in a few seconds.
TEST_CASE("a sum tree is a function of its weights, over a hundred million operations", "[.long]") {
  Rng rng(Seed{2});
  run(100'000'000, rng);
}
