#include <map>
#include <numeric>
#include <vector>

#include "tests/support/chi_square.h"
#include "tests/support/served_shards.h"

// Several shards as one table, and what becomes of a lost one.

namespace pacml::testing {
namespace {

constexpr auto kActor = wire::Role::kActor;

// Shard s holds the items 10 s + 1, 10 s + 2, ... with these priorities.
const std::vector<std::vector<float>> kPriorities = {{1, 2, 3}, {4}, {0.5F, 0.5F, 8, 1}};

struct Shards {
  Shards() {
    for (std::size_t s = 0; s < kPriorities.size(); ++s) {
      shards.push_back(
          std::make_unique<ServedShard>(shard_config(), static_cast<std::uint32_t>(s)));
      pointers.push_back(shards.back().get());
      ShardPeer actor(*shards.back(), shard_hello(kActor));
      fill(actor, s, 1);
    }
  }
  static void fill(ShardPeer& actor, std::size_t s, std::uint64_t sequence) {
    std::vector<float> marks;
    for (std::size_t i = 0; i < kPriorities[s].size(); ++i) {
      marks.push_back(static_cast<float>(10 * s + i + 1));
    }
    actor.insert(sequence, marked(marks, kPriorities[s]));
  }
  std::vector<std::unique_ptr<ServedShard>> shards;
  std::vector<ServedShard*> pointers;
};

TEST_CASE("a batch from several shards has the distribution of one table",
          "[integration][replay][statistical]") {
  Shards shards;
  double total = 0;
  std::map<float, double> exact;
  for (std::size_t s = 0; s < kPriorities.size(); ++s) {
    for (std::size_t i = 0; i < kPriorities[s].size(); ++i) {
      exact[static_cast<float>(10 * s + i + 1)] = kPriorities[s][i];
      total += kPriorities[s][i];
    }
  }
  for (auto& [mark, probability] : exact) probability /= total;

  ServedClient client(shards.pointers, {.batch_size = 256, .prefetch = 2});
  // The first batches are drawn before every shard has said how much it holds.
  while (client->status().shards < 3 || client->status().items < 8) {
    static_cast<void>(client.next());
  }
  for (int n = 0; n < 3; ++n) static_cast<void>(client.next());
  std::map<float, std::uint64_t> counts;
  std::uint64_t draws = 0;
  for (int n = 0; n < 200; ++n) {
    const auto batch = client.next();
    for (std::size_t i = 0; i < batch.transitions.size(); ++i) {
      const float mark = mark_of(batch.transitions, i);
      REQUIRE(batch.probabilities[i] == Approx(exact.at(mark)));
      ++counts[mark];
      ++draws;
    }
  }
  REQUIRE(draws == 200 * 256);
  std::vector<double> observed;
  std::vector<double> expected;
  for (const auto& [mark, probability] : exact) {
    observed.push_back(static_cast<double>(counts[mark]));
    expected.push_back(probability * static_cast<double>(draws));
  }
  CHECK(chi_square(observed, expected) < chi_square_limit(7));
  // The same test is not content with each shard being asked equally often.
  std::vector<double> by_shard;
  for (const auto& of_shard : kPriorities) {
    const double sum = std::accumulate(of_shard.begin(), of_shard.end(), 0.0);
    for (const float priority : of_shard) {
      by_shard.push_back(priority / sum / 3 * static_cast<double>(draws));
    }
  }
  CHECK(chi_square(observed, by_shard) > 10 * chi_square_limit(7));
}

TEST_CASE("a lost shard costs its items only", "[integration][replay]") {
  Shards shards;
  ServedClient client(shards.pointers, {.batch_size = 64,
                                        .prefetch = 2,
                                        .hello_interval = std::chrono::milliseconds(20),
                                        .probe_interval = std::chrono::milliseconds(20)});
  while (client->status().items < 8) static_cast<void>(client.next());
  shards.shards[2]->stop();
  bool without = false;
  for (const Deadline deadline = soon(); !without && !deadline.expired();) {
    const auto batch = client.next();
    without = true;
    for (std::size_t i = 0; i < 64; ++i) without &= mark_of(batch.transitions, i) < 20;
  }
  REQUIRE(without);
  // It comes back empty, is filled anew, and is drawn from again.
  shards.shards[2]->start();
  ShardPeer actor(*shards.shards[2], shard_hello(kActor, 0, 101));
  actor.insert(1, marked({21, 22}, {50, 50}), shard_hello(kActor, 0, 101));
  bool again = false;
  const Deadline deadline = soon();
  while (!again && !deadline.expired()) {
    const auto batch = client.next();
    for (std::size_t i = 0; i < 64; ++i) again |= mark_of(batch.transitions, i) > 20;
  }
  CHECK(again);
}

TEST_CASE("what a silent shard owes is drawn from the others", "[integration][replay]") {
  // The second shard lets nobody draw until it has a thousand items more.
  auto stingy = shard_config();
  stingy.table.samples_per_insert = 1;
  stingy.table.error_buffer = 4;
  ServedShard open;
  ServedShard closed(stingy, 1);
  ShardPeer to_open(open, shard_hello(kActor));
  ShardPeer to_closed(closed, shard_hello(kActor));
  to_open.insert(1, marked({1}, {1}));
  to_closed.insert(1, marked({11, 12, 13, 14}, {1, 1, 1, 1}));
  ServedShard* const shards[] = {&open, &closed};
  ServedClient client(shards, {.batch_size = 16,
                               .prefetch = 1,
                               .probe_interval = std::chrono::milliseconds(20),
                               .patience = std::chrono::milliseconds(100)});
  for (int n = 0; n < 30; ++n) REQUIRE(client.next().transitions.size() == 16);
  CHECK(client->status().redrawn > 0);
}

TEST_CASE("an only shard that is slow is waited for", "[integration][replay]") {
  auto config = shard_config();
  config.table.min_size = 3;
  ServedShard shard(config);
  ShardPeer actor(shard, shard_hello(kActor));
  ServedShard* const shards[] = {&shard};
  ServedClient client(shards, {.batch_size = 16,
                               .prefetch = 2,
                               .probe_interval = std::chrono::milliseconds(10),
                               .patience = std::chrono::milliseconds(30)});
  actor.insert(1, marked({1}, {1}));
  REQUIRE_FALSE(client->next({}, Deadline::in(std::chrono::milliseconds(150))));
  const Deadline deadline = soon();
  while (!client->status().each.at(0).late) REQUIRE_FALSE(deadline.expired());
  CHECK(client->status().each[0].joined);
  CHECK(client->status().each[0].owed > 0);
  actor.insert(2, marked({2, 3}, {1, 1}));
  for (int n = 0; n < 10; ++n) REQUIRE(client.next().transitions.size() == 16);
  CHECK(client->status().redrawn == 0);
}

TEST_CASE("a priority for an item of a shard's former life is dropped", "[integration][replay]") {
  ServedShard shard;
  ShardPeer first(shard, shard_hello(kActor));
  first.insert(1, marked({1}, {1}));
  ServedShard* const shards[] = {&shard};
  ServedClient client(shards, {.batch_size = 4,
                               .prefetch = 1,
                               .hello_interval = std::chrono::milliseconds(10),
                               .probe_interval = std::chrono::milliseconds(10)});
  const auto batch = client.next();
  shard.stop();
  shard.start();  // empty: its first item gets the key that the former one had
  ShardPeer second(shard, shard_hello(kActor, 0, 101));
  second.insert(1, marked({2, 3}, {1, 1}), shard_hello(kActor, 0, 101));
  const Deadline deadline = soon();
  bool seen = false;
  while (!seen && !deadline.expired()) seen = mark_of(client.next().transitions, 0) > 1;
  REQUIRE(seen);
  client->report_priorities(batch.ticket, {9, 9, 9, 9});
  for (int n = 0; n < 10; ++n) static_cast<void>(client.next());
  CHECK(client->status().updates_lost == 4);
  CHECK(second.status().at("updates_applied") == 0);
  CHECK(second.status().at("total_priority") == 2);
}

TEST_CASE("another thread reads a shard's status from its board", "[integration][replay]") {
  ServedShard shard;
  ShardPeer actor(shard, shard_hello(kActor));
  actor.insert(1, marked({1, 2}, {1, 1}));
  const Deadline deadline = soon();
  auto seen = nlohmann::json::object();
  while (seen.value("items", 0) != 2 && !deadline.expired()) {
    const auto newest = shard.board().newest();
    if (newest) seen = nlohmann::json::parse(newest->text);
  }
  auto asked = actor.status();
  for (auto* status : {&seen, &asked}) status->erase("snapshot_age_seconds");
  CHECK(seen == asked);
}

}  // namespace
}  // namespace pacml::testing
