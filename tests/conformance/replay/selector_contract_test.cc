#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "replay/fifo.h"
#include "replay/prioritized.h"
#include "replay/uniform.h"
#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::replay;

namespace {

constexpr std::size_t kCapacity = 100;

struct Implementation {
  std::string name;
  std::function<std::unique_ptr<ItemSelector>()> make;
  std::function<double(double)> weight;  // of a priority
};

std::vector<Implementation> implementations() {
  std::vector<Implementation> all = {
      {"fifo", [] { return std::make_unique<FifoSelector>(kCapacity); },
       [](double) { return 1.0; }},
      {"uniform", [] { return std::make_unique<UniformSelector>(kCapacity); },
       [](double) { return 1.0; }}};
  for (const double alpha : {0.0, 0.6, 1.0}) {
    all.push_back({"prioritized " + std::to_string(alpha),
                   [alpha] { return std::make_unique<PrioritizedSelector>(kCapacity, alpha); },
                   [alpha](double p) { return p == 0 ? 0 : std::pow(p, alpha); }});
  }
  return all;
}

// What a selector was told, as plain as possible: items in the order of their insertion.
struct History {
  std::unique_ptr<ItemSelector> selector;
  std::vector<SlotPriority> items;

  void insert(std::uint32_t slot, double priority) {
    selector->insert(slot, priority);
    items.push_back({slot, priority});
  }
  void remove(std::size_t i) {
    selector->remove(items[i].slot);
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void update(std::size_t i, double priority) {
    const SlotPriority update{items[i].slot, priority};
    selector->update({&update, 1});
    items[i].priority = priority;
  }
  [[nodiscard]] bool taken(std::uint32_t slot) const {
    return std::any_of(items.begin(), items.end(), [&](auto& item) { return item.slot == slot; });
  }
};

double random_priority(Rng& rng) {
  return rng.below(5) == 0 ? 0 : std::pow(10, rng.uniform() * 24 - 12);
}

void act_randomly(History& history, Rng& rng, int operations) {
  for (; operations > 0; --operations) {
    const auto slot = static_cast<std::uint32_t>(rng.below(kCapacity));
    const std::size_t n = history.items.size();
    switch (rng.below(3)) {
      case 0:
        if (!history.taken(slot)) history.insert(slot, random_priority(rng));
        break;
      case 1:
        if (n > 1) history.remove(rng.below(n));
        break;
      default:
        if (n > 0) history.update(rng.below(n), random_priority(rng));
    }
  }
}

std::vector<Selection> select(const ItemSelector& selector, Seed seed, std::size_t n) {
  Rng rng(seed);
  std::vector<Selection> selections(n);
  selector.select(rng, selections);
  return selections;
}

bool equal(const std::vector<Selection>& a, const std::vector<Selection>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.slot == y.slot && x.probability == y.probability;
  });
}

}  // namespace

TEST_CASE("a selector draws its items only, each with the probability it names") {
  for (const auto& implementation : implementations()) {
    INFO(implementation.name);
    History history{implementation.make(), {}};
    Rng rng(Seed{1});
    for (int round = 0; round < 200; ++round) {
      act_randomly(history, rng, 20);
      if (history.items.empty()) continue;
      REQUIRE(history.selector->size() == history.items.size());
      double total = 0;
      std::map<std::uint32_t, double> weights;
      for (const auto& item : history.items) {
        weights[item.slot] = implementation.weight(item.priority);
        total += weights[item.slot];
      }
      REQUIRE(history.selector->total() == Approx(total).epsilon(1e-12).margin(0));
      for (const auto& selection : select(*history.selector, Seed{rng.next()}, 10)) {
        REQUIRE(weights.count(selection.slot) == 1);
        if (implementation.name == "fifo") {
          REQUIRE(selection.slot == history.items.front().slot);
          REQUIRE(selection.probability == 1);
        } else if (total == 0) {
          REQUIRE(selection.probability == 1.0 / static_cast<double>(weights.size()));
        } else {
          REQUIRE(weights[selection.slot] > 0);
          REQUIRE(selection.probability ==
                  Approx(weights[selection.slot] / total).epsilon(1e-12).margin(0));
        }
      }
    }
  }
}

TEST_CASE("a selector is a function of its items, not of its past") {
  for (const auto& implementation : implementations()) {
    INFO(implementation.name);
    History history{implementation.make(), {}};
    Rng rng(Seed{2});
    for (int round = 0; round < 50; ++round) {
      act_randomly(history, rng, 100);
      if (history.items.empty()) continue;
      const auto rebuilt = implementation.make();
      for (const auto& item : history.items) rebuilt->insert(item.slot, item.priority);
      REQUIRE(rebuilt->total() == history.selector->total());
      const Seed seed{rng.next()};
      REQUIRE(equal(select(*rebuilt, seed, 300), select(*history.selector, seed, 300)));
    }
  }
}

TEST_CASE("a batch draws what so many single calls would") {
  for (const auto& implementation : implementations()) {
    INFO(implementation.name);
    for (const double zero : {1.0, 0.0}) {  // 0: every priority is
      const auto selector = implementation.make();
      for (std::uint32_t slot = 0; slot < 30; ++slot) selector->insert(slot, zero * (1 + slot));
      const auto batch = select(*selector, Seed{3}, 700);
      Rng rng(Seed{3});
      std::vector<Selection> singles(700);
      for (auto& selection : singles) selector->select(rng, {&selection, 1});
      REQUIRE(equal(batch, singles));
    }
  }
}

TEST_CASE("a batch of updates leaves what so many single updates would") {
  for (const auto& implementation : implementations()) {
    INFO(implementation.name);
    const auto together = implementation.make();
    const auto singly = implementation.make();
    for (std::uint32_t slot = 0; slot < kCapacity; ++slot) {
      together->insert(slot, 1);
      singly->insert(slot, 1);
    }
    Rng rng(Seed{4});
    std::vector<SlotPriority> updates(500);  // several for each slot
    for (auto& update : updates) {
      update = {static_cast<std::uint32_t>(rng.below(kCapacity)), random_priority(rng)};
    }
    together->update(updates);
    for (const auto& update : updates) singly->update({&update, 1});
    REQUIRE(together->total() == singly->total());
    REQUIRE(equal(select(*together, Seed{5}, 100), select(*singly, Seed{5}, 100)));
  }
}

TEST_CASE("a selector can be emptied and filled again") {
  for (const auto& implementation : implementations()) {
    INFO(implementation.name);
    const auto selector = implementation.make();
    for (int round = 0; round < 3; ++round) {
      for (std::uint32_t slot = 0; slot < kCapacity; ++slot) selector->insert(slot, 0.1);
      for (std::uint32_t slot = 0; slot < kCapacity; ++slot) selector->remove(slot);
      REQUIRE(selector->size() == 0);
      REQUIRE(selector->total() == 0);
    }
  }
}
