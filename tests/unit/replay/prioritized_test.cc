#include "replay/prioritized.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "tests/support/catch.h"

using pacml::Rng;
using pacml::Seed;
using namespace pacml::replay;

namespace {

std::set<std::uint32_t> drawn_from(const ItemSelector& selector, std::size_t draws) {
  Rng rng(Seed{1});
  std::vector<Selection> selections(draws);
  selector.select(rng, selections);
  std::set<std::uint32_t> slots;
  for (const auto& selection : selections) slots.insert(selection.slot);
  return slots;
}

}  // namespace

TEST_CASE("what a priority is") {
  CHECK(is_priority(0));
  CHECK(is_priority(1e-300));
  CHECK(is_priority(kMaxPriority));
  CHECK_FALSE(is_priority(-1e-300));
  CHECK_FALSE(is_priority(1e300));
  CHECK_FALSE(is_priority(std::numeric_limits<double>::infinity()));
  CHECK_FALSE(is_priority(-std::numeric_limits<double>::infinity()));
  CHECK_FALSE(is_priority(std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("weights are priorities raised to alpha") {
  PrioritizedSelector selector(4, 0.6);
  selector.insert(0, 2.0);
  selector.insert(2, 5.0);
  CHECK(selector.total() == Approx(std::pow(2, 0.6) + std::pow(5, 0.6)).epsilon(1e-14));
  const std::vector<SlotPriority> update = {{0, 7.0}};
  selector.update(update);
  CHECK(selector.total() == Approx(std::pow(7, 0.6) + std::pow(5, 0.6)).epsilon(1e-14));
}

TEST_CASE("the largest priorities have a finite sum") {
  PrioritizedSelector selector(100, 1.0);
  for (std::uint32_t slot = 0; slot < 100; ++slot) selector.insert(slot, kMaxPriority);
  CHECK(std::isfinite(selector.total()));
  CHECK(drawn_from(selector, 2000).size() == 100);
}

TEST_CASE("an item of priority zero is drawn only when all are zero, whatever alpha is") {
  for (const double alpha : {0.0, 0.6, 1.0}) {
    PrioritizedSelector selector(100, alpha);
    selector.insert(3, 0.0);
    selector.insert(50, 1e-12);
    selector.insert(99, 0.0);
    CHECK(drawn_from(selector, 200) == std::set<std::uint32_t>{50});
    const std::vector<SlotPriority> update = {{50, 0.0}};
    selector.update(update);
    CHECK(selector.total() == 0);
    CHECK(drawn_from(selector, 200) == std::set<std::uint32_t>{3, 50, 99});
    Rng rng(Seed{2});
    Selection selection;
    selector.select(rng, {&selection, 1});
    CHECK(selection.probability == 1.0 / 3);
  }
}
