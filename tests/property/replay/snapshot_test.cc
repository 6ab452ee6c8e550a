// A snapshot is taken while operations go on; the restored table and a twin that stopped where the
// snapshot began then do the same operations, and nothing may differ by a bit.
#include "replay/snapshot.h"

#include <bit>
#include <cmath>
#include <vector>

#include "tests/support/block_list.h"
#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::replay;

namespace {

// Random operations whose course depends on nothing but the seed and what the table answers.
class Actor {
 public:
  explicit Actor(Seed seed) : rng_(seed) {}

  // Everything that the table answered.
  std::vector<std::uint64_t> act(Table& table, int operations) {
    std::vector<std::uint64_t> answers;
    for (; operations > 0; --operations) {
      const std::uint64_t kind = rng_.below(4);
      if (kind == 0) {
        std::vector<SampledItem> drawn(rng_.below(6));
        drawn.resize(table.sample(drawn));
        for (const auto& item : drawn) {
          answers.push_back(item.key.pack());
          answers.push_back(std::bit_cast<std::uint64_t>(item.probability));
          for (const auto byte : item.payload) answers.push_back(std::to_integer<unsigned>(byte));
        }
      } else if (kind == 1) {
        std::vector<PriorityUpdate> updates(rng_.below(6));
        for (auto& update : updates) {
          if (!keys_.empty()) update.key = keys_[rng_.below(keys_.size())];
          update.priority = priority();
        }
        const auto counts = table.update_priorities(updates);
        answers.insert(answers.end(), {counts.applied, counts.evicted, counts.refused});
      } else {
        const Bytes payload(rng_.below(30), std::byte(rng_.below(256)));
        const auto key = table.insert(payload, priority());
        REQUIRE(key.has_value());
        answers.push_back(key->pack());
        keys_.push_back(*key);
        if (keys_.size() > 100) keys_.erase(keys_.begin());
      }
      answers.push_back(table.size());
      answers.push_back(table.bytes());
      answers.push_back(std::bit_cast<std::uint64_t>(table.total_priority()));
      answers.push_back(table.can_insert());
      answers.push_back(table.can_sample());
    }
    return answers;
  }

 private:
  double priority() { return rng_.below(6) == 0 ? 0 : std::pow(10, rng_.uniform() * 24 - 12); }

  Rng rng_;
  std::vector<ItemKey> keys_;
};

}  // namespace

TEST_CASE("a restored table goes on bit for bit") {
  TableConfig config;
  config.sampler = GENERATE(Sampler::kFifo, Sampler::kUniform, Sampler::kPrioritized);
  config.remover = GENERATE(Remover::kFifo, Remover::kUniform);
  config.max_bytes = GENERATE(0, 500);
  config.max_times_sampled = GENERATE(0, 2);
  config.capacity = 50;
  config.min_size = 5;
  config.samples_per_insert = 2;
  config.error_buffer = 20;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const int before = static_cast<int>(seed) * 60;
    Table table(config, Seed{seed});
    Actor actor(Seed{100 + seed});
    Table twin(config, Seed{seed});
    Actor twins_actor(Seed{100 + seed});
    REQUIRE(actor.act(table, before) == twins_actor.act(twin, before));
    Actor restoreds_actor = twins_actor;

    testing::BlockList blocks;
    Rng pace(Seed{seed});
    table.begin_snapshot({}, blocks);
    bool over = false;
    for (int i = 0; i < 100; ++i) {
      static_cast<void>(actor.act(table, 2));
      blocks.behind = pace.below(3) == 0;
      over = over || table.advance_snapshot(pace.below(4));
    }
    blocks.behind = false;
    while (!over) over = table.advance_snapshot(4);

    auto in = blocks.stream();
    auto restored = read_snapshot(in, config);
    REQUIRE(restored.has_value());
    REQUIRE(restored->table.counters() == twin.counters());
    REQUIRE(restoreds_actor.act(restored->table, 500) == twins_actor.act(twin, 500));
    REQUIRE(restored->table.counters() == twin.counters());
  }
}
