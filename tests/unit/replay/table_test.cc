#include "replay/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::replay;

namespace {

TableConfig small(std::int64_t capacity) {
  TableConfig config;
  config.capacity = capacity;
  config.min_size = 1;
  return config;
}

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text(std::span<const std::byte> payload) {
  return {reinterpret_cast<const char*>(payload.data()), payload.size()};
}

// Payloads of n draws.
std::vector<std::string> draw(Table& table, std::size_t n) {
  std::vector<SampledItem> items(n);
  items.resize(table.sample(items));
  std::vector<std::string> payloads;
  for (const auto& item : items) payloads.push_back(text(item.payload));
  return payloads;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("what is drawn is what was inserted, with the probability of its weight") {
  Table table(small(8), Seed{1});
  const auto a = table.insert(bytes("first"), 1.0);
  const auto b = table.insert(bytes("second"), 3.0);
  REQUIRE(a.has_value());
  REQUIRE(b.has_value());
  std::vector<SampledItem> items(100);
  REQUIRE(table.sample(items) == 100);
  const double total = 1 + std::pow(3, 0.6);
  CHECK(table.total_priority() == Approx(total).epsilon(1e-14));
  for (const auto& item : items) {
    const bool first = item.key == *a;
    CHECK((first || item.key == *b));
    CHECK(text(item.payload) == (first ? "first" : "second"));
    CHECK(item.probability == Approx((first ? 1 : total - 1) / total).epsilon(1e-14));
  }
  CHECK(table.counters().sampled == 100);
}

TEST_CASE("an empty table draws nothing") {
  Table table(small(8), Seed{1});
  std::vector<SampledItem> items(4);
  CHECK(table.sample(items) == 0);
  CHECK(table.counters().sampled == 0);
}

TEST_CASE("a full table lets the oldest item go") {
  Table table(small(2), Seed{1});
  const auto a = table.insert(bytes("a"), 1.0);
  const auto b = table.insert(bytes("b"), 1.0);
  const auto c = table.insert(bytes("c"), 1.0);
  REQUIRE(c.has_value());
  CHECK(table.size() == 2);
  CHECK(table.counters().evicted == 1);
  CHECK(c->slot == a->slot);
  CHECK(c->generation == a->generation + 1);
  const std::vector<PriorityUpdate> updates = {{*a, 1.0}, {*b, 1.0}, {*c, 1.0}};
  CHECK(table.update_priorities(updates) == UpdateCounts{2, 1, 0});
}

TEST_CASE("a late priority for an item that is gone does not reach its slot's next tenant") {
  Table table(small(1), Seed{1});
  const auto old = table.insert(bytes("old"), 1.0);
  const auto young = table.insert(bytes("young"), 2.0);
  const double before = table.total_priority();
  const std::vector<PriorityUpdate> late = {{*old, 1000.0}};
  CHECK(table.update_priorities(late) == UpdateCounts{0, 1, 0});
  CHECK(table.total_priority() == before);
  const std::vector<PriorityUpdate> timely = {{*young, 1000.0}};
  CHECK(table.update_priorities(timely) == UpdateCounts{1, 0, 0});
  CHECK(table.total_priority() == Approx(std::pow(1000, 0.6)).epsilon(1e-14));
}

TEST_CASE("keys that never were are dropped like late ones") {
  Table table(small(2), Seed{1});
  const auto key = table.insert(bytes("a"), 1.0);
  const std::vector<PriorityUpdate> updates = {{{1, 0}, 1.0},
                                               {{1, 1}, 1.0},
                                               {{2, 1}, 1.0},
                                               {{UINT32_MAX, UINT32_MAX}, 1.0},
                                               {{key->slot, key->generation + 1}, 1.0}};
  CHECK(table.update_priorities(updates) == UpdateCounts{0, 5, 0});
}

TEST_CASE("priorities that are no numbers, infinite or negative are refused and counted") {
  Table table(small(4), Seed{1});
  const auto key = table.insert(bytes("a"), 2.0);
  REQUIRE(key.has_value());
  const double before = table.total_priority();
  for (const double bad : {kNan, kInfinity, -kInfinity, -1.0, -1e-300}) {
    const auto refused = table.insert(bytes("b"), bad);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == Errc::kCorruptFrame);
    const std::vector<PriorityUpdate> update = {{*key, bad}};
    CHECK(table.update_priorities(update) == UpdateCounts{0, 0, 1});
  }
  CHECK(table.size() == 1);
  CHECK(table.total_priority() == before);
  CHECK(table.counters().refused == 5);
  CHECK(table.counters().updates_refused == 5);
  CHECK(table.counters().inserted == 1);
}

TEST_CASE("of several priorities for one item in a batch, the last valid one stays") {
  Table table(small(4), Seed{1});
  const auto key = table.insert(bytes("a"), 1.0);
  const std::vector<PriorityUpdate> updates = {{*key, 5.0}, {*key, 7.0}, {*key, kNan}};
  CHECK(table.update_priorities(updates) == UpdateCounts{2, 0, 1});
  CHECK(table.total_priority() == Approx(std::pow(7, 0.6)).epsilon(1e-14));
}

TEST_CASE(
    "a table never takes more bytes than its bound, and lets several items go for a large one") {
  TableConfig config = small(100);
  config.max_bytes = 100;
  Table table(config, Seed{1});
  for (int i = 0; i < 12; ++i) REQUIRE(table.insert(bytes("12345678"), 1.0).has_value());
  CHECK(table.size() == 12);
  CHECK(table.bytes() == 96);
  REQUIRE(table.insert(bytes(std::string(40, 'x')), 1.0).has_value());
  CHECK(table.bytes() <= 100);
  CHECK(table.size() == 8);
  CHECK(table.counters().evicted == 5);
  const auto refused = table.insert(bytes(std::string(101, 'x')), 1.0);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::kOverLimit);
  CHECK(table.size() == 8);
  REQUIRE(table.insert(bytes(std::string(96, 'y')), 1.0).has_value());
  CHECK(table.size() == 1);
  CHECK(draw(table, 1) == std::vector<std::string>{std::string(96, 'y')});
}

TEST_CASE("a table of fifo items that are drawn once is a queue") {
  TableConfig config = small(8);
  config.sampler = Sampler::kFifo;
  config.max_times_sampled = 1;
  Table table(config, Seed{1});
  for (const char* item : {"a", "b", "c"}) REQUIRE(table.insert(bytes(item), 1.0).has_value());
  CHECK(draw(table, 2) == std::vector<std::string>{"a", "b"});
  REQUIRE(table.insert(bytes("d"), 1.0).has_value());
  CHECK(draw(table, 8) == std::vector<std::string>{"c", "d"});
  CHECK(table.size() == 0);
  CHECK(table.counters().used_up == 4);
  CHECK(table.counters().evicted == 0);
}

TEST_CASE("no item is drawn more often than allowed, even within a batch") {
  TableConfig config = small(8);
  config.max_times_sampled = 3;
  Table table(config, Seed{1});
  REQUIRE(table.insert(bytes("heavy"), 1e6).has_value());
  REQUIRE(table.insert(bytes("light"), 1.0).has_value());
  const auto drawn = draw(table, 10);
  REQUIRE(drawn.size() == 6);
  CHECK(std::count(drawn.begin(), drawn.end(), "heavy") == 3);
}

TEST_CASE("the uniform remover lets any item go") {
  TableConfig config = small(10);
  config.remover = Remover::kUniform;
  Table table(config, Seed{1});
  std::vector<ItemKey> keys;
  for (int i = 0; i < 20; ++i) keys.push_back(*table.insert(bytes("a"), 1.0));
  std::vector<PriorityUpdate> updates;
  for (int i = 0; i < 10; ++i) updates.push_back({keys[static_cast<std::size_t>(i)], 1.0});
  const auto counts = table.update_priorities(updates);
  CHECK(counts.applied > 0);
  CHECK(counts.evicted > 0);
  CHECK(table.size() == 10);
}

TEST_CASE("the same seed and operations give the same draws, another seed others") {
  const auto run = [](Seed seed) {
    Table table(small(64), seed);
    for (int i = 0; i < 64; ++i) REQUIRE(table.insert(bytes(std::to_string(i)), i).has_value());
    return draw(table, 50);
  };
  CHECK(run(Seed{1}) == run(Seed{1}));
  CHECK(run(Seed{1}) != run(Seed{2}));
}

TEST_CASE("a table's status says who waits for whom and why") {
  TableConfig config = small(8);
  config.min_size = 2;
  config.samples_per_insert = 1;
  config.error_buffer = 1;
  Table table(config, Seed{1});
  REQUIRE(table.insert(bytes("12345"), 1.0).has_value());
  CHECK_FALSE(table.can_sample());
  CHECK(table.status().why == "samples wait for items: 1 of 2");
  CHECK(table.status().bytes == 8);
  REQUIRE(table.insert(bytes("b"), 1.0).has_value());
  CHECK(table.can_sample());
  REQUIRE(table.insert(bytes("c"), 1.0).has_value());
  CHECK_FALSE(table.can_insert());
  CHECK(table.status().limit == RateLimit::kInsertsForSamples);
}

TEST_CASE("a minimum size that the byte bound rules out is told") {
  TableConfig config = small(8);
  config.min_size = 4;
  config.max_bytes = 16;
  Table table(config, Seed{1});
  for (int i = 0; i < 5; ++i) REQUIRE(table.insert(bytes("12345678"), 1.0).has_value());
  CHECK(table.status().why == "samples wait for items: 2 of 4, and max_bytes has no room for more");
}
