// Do draws follow the distribution that they claim? Counted, and held against the exact one; and
// does that test notice a sampler that is slightly wrong?
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "replay/prioritized.h"
#include "replay/uniform.h"
#include "tests/support/catch.h"
#include "tests/support/chi_square.h"

using namespace pacml;
using namespace pacml::replay;

namespace {

constexpr std::size_t kItems = 40;
constexpr std::size_t kDraws = 400'000;

double priority_of(std::size_t slot) { return std::pow(10.0, static_cast<double>(slot % 5) / 2); }

std::vector<double> weights(double alpha) {
  std::vector<double> all(kItems);
  for (std::size_t slot = 0; slot < kItems; ++slot) all[slot] = std::pow(priority_of(slot), alpha);
  return all;
}

// Whether the counts of so many draws look like `weights`.
bool follows(const ItemSelector& selector, const std::vector<double>& weights) {
  Rng rng(Seed{11});
  std::vector<double> counts(weights.size());
  std::vector<Selection> batch(1000);
  for (std::size_t i = 0; i < kDraws; i += batch.size()) {
    selector.select(rng, batch);
    for (const auto& selection : batch) ++counts[selection.slot];
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> expected;
  for (const double weight : weights) expected.push_back(kDraws * weight / total);
  return testing::chi_square(counts, expected) < testing::chi_square_limit(weights.size() - 1);
}

// A selector whose draws are tampered with.
class Tampered final : public ItemSelector {
 public:
  using Tamper = std::function<std::uint32_t(std::uint32_t slot, Rng& rng)>;
  explicit Tampered(Tamper tamper) : tamper_(std::move(tamper)) {}
  void insert(std::uint32_t slot, double priority) override { inner_.insert(slot, priority); }
  void remove(std::uint32_t slot) override { inner_.remove(slot); }
  void update(std::span<const SlotPriority> priorities) override { inner_.update(priorities); }
  void select(Rng& rng, std::span<Selection> into) const override {
    inner_.select(rng, into);
    for (auto& selection : into) selection.slot = tamper_(selection.slot, rng);
  }
  [[nodiscard]] std::size_t size() const override { return inner_.size(); }
  [[nodiscard]] double total() const override { return inner_.total(); }

 private:
  PrioritizedSelector inner_{kItems, 0.6};
  Tamper tamper_;
};

void fill(ItemSelector& selector) {
  for (std::uint32_t slot = 0; slot < kItems; ++slot) selector.insert(slot, priority_of(slot));
}

}  // namespace

TEST_CASE("uniform draws are uniform, gaps between the slots or not") {
  UniformSelector selector(1000);
  fill(selector);
  CHECK(follows(selector, std::vector<double>(kItems, 1.0)));
  selector.insert(999, 1);
  Rng rng(Seed{1});
  std::vector<Selection> batch(41'000);
  selector.select(rng, batch);
  const auto far = std::count_if(batch.begin(), batch.end(),
                                 [](const auto& selection) { return selection.slot == 999; });
  CHECK(std::abs(far - 1000) < 130);  // four deviations
}

TEST_CASE("prioritized draws follow the priorities, raised to alpha") {
  for (const double alpha : {0.0, 0.4, 0.6, 1.0}) {
    CAPTURE(alpha);
    PrioritizedSelector selector(kItems, alpha);
    fill(selector);
    CHECK(follows(selector, weights(alpha)));
  }
}

TEST_CASE("draws follow the priorities that are left after many changes") {
  PrioritizedSelector selector(kItems, 0.6);
  Rng rng(Seed{5});
  for (std::uint32_t slot = 0; slot < kItems; ++slot) selector.insert(slot, 1e12);
  for (int i = 0; i < 10'000; ++i) {
    const SlotPriority update{static_cast<std::uint32_t>(rng.below(kItems)),
                              std::pow(10, rng.uniform() * 24 - 12)};
    selector.update({&update, 1});
  }
  for (std::uint32_t slot = 0; slot < kItems; ++slot) {
    const SlotPriority update{slot, priority_of(slot)};
    selector.update({&update, 1});
  }
  CHECK(follows(selector, weights(0.6)));
}

TEST_CASE("the test of the draws notices samplers that are slightly wrong") {
  const auto noticed = [](Tampered::Tamper tamper) {
    Tampered selector(std::move(tamper));
    fill(selector);
    return !follows(selector, weights(0.6));
  };
  CHECK_FALSE(noticed([](std::uint32_t slot, Rng&) { return slot; }));
  SECTION("one that never draws the last item") {
    CHECK(noticed([](std::uint32_t slot, Rng&) { return slot == kItems - 1 ? 0U : slot; }));
  }
  SECTION("one that draws an item a twentieth too seldom") {
    CHECK(noticed(
        [](std::uint32_t slot, Rng& rng) { return slot == 4 && rng.below(20) == 0 ? 3U : slot; }));
  }
  SECTION("one that now and then draws the neighbour") {
    CHECK(noticed([](std::uint32_t slot, Rng& rng) {
      return rng.below(50) == 0 ? (slot + 1) % static_cast<std::uint32_t>(kItems) : slot;
    }));
  }
  SECTION("one that has another alpha") {
    PrioritizedSelector selector(kItems, 0.62);
    fill(selector);
    CHECK_FALSE(follows(selector, weights(0.6)));
  }
}
