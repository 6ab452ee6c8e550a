#include <vector>

#include "common/atomic_file.h"
#include "tests/support/served_shards.h"
#include "tests/support/temp_dir.h"

// A shard that ends and begins again.

namespace pacml::testing {
namespace {

constexpr auto kActor = wire::Role::kActor;
constexpr auto kLearner = wire::Role::kLearner;

std::vector<float> draw(ShardPeer& learner, std::uint64_t request) {
  learner.say(wire::Sample{request, 50});
  const auto samples = learner.hear<wire::Samples>();
  std::vector<float> marks;
  for (std::size_t i = 0; i < 50; ++i) marks.push_back(mark_of(samples.transitions, i));
  return marks;
}

TEST_CASE("a shard that starts again goes on: items, draws, graphs, and what it accepted",
          "[integration][replay]") {
  const TempDir folder;
  ServedShard shard(shard_config(), 0, folder / "shard-0");
  ServedShard twin;  // is never stopped
  const auto hello = shard_hello(kActor);
  for (ServedShard* const each : {&shard, &twin}) {
    ShardPeer actor(*each, hello);
    actor.insert(1, marked({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}));
    ShardPeer learner(*each, shard_hello(kLearner));
    static_cast<void>(draw(learner, 1));
  }
  shard.stop();
  shard.start();
  ShardPeer learner(shard, shard_hello(kLearner));
  ShardPeer twins_learner(twin, shard_hello(kLearner));
  CHECK(draw(learner, 2) == draw(twins_learner, 2));
  learner.say(wire::NeedGraph{small_graph().hash});
  CHECK(learner.hear<wire::Graph>() == small_graph());
  // Nothing comes twice: the life that sent something has ended with its connection, and so has
  // one before it, which a clock that went back may name.
  ShardPeer actor(shard);
  for (const std::uint64_t incarnation : {100, 7}) {
    actor.say(shard_hello(kActor, 0, incarnation));
    CHECK(actor.hear<wire::Refused>().newest == hello.incarnation);
  }
  const auto next = shard_hello(kActor, 0, 101);
  actor.say(next);
  static_cast<void>(actor.hear<wire::Welcome>());
  actor.insert(1, marked({9}, {1}), next);
  CHECK(actor.status().at("items") == 6);
  CHECK(actor.status().at("duplicates") == 0);
}

TEST_CASE("a snapshot is taken while the shard serves, when it is due", "[integration][replay]") {
  const TempDir folder;
  auto config = shard_config();
  config.snapshot_seconds = 0.02;
  ServedShard shard(config, 0, folder / "shard-0");
  ShardPeer actor(shard, shard_hello(kActor));
  const Deadline deadline = soon();
  std::uint64_t sequence = 0;
  while (actor.status().at("snapshots") < 3 && !deadline.expired()) {
    ++sequence;
    actor.insert(sequence, marked({1, 2, 3}, {1, 1, 1}));
  }
  CHECK(actor.status().at("snapshots") >= 3);
  CHECK(std::filesystem::file_size(folder / "shard-0") > 0);
}

TEST_CASE("a snapshot that is under way when its shard ends is finished before the last one",
          "[integration][replay]") {
  const TempDir folder;
  auto config = shard_config();
  config.table.capacity = 400'000;
  config.table.samples_per_insert = 0;  // inserts wait for nobody
  ServedShard shard(config, 0, folder / "shard-0");
  ShardPeer actor(shard, shard_hello(kActor));
  // So many that copying them takes a while, a few between two messages.
  const std::vector<float> ones(20'000, 1);
  for (std::uint64_t sequence = 1; sequence <= 20; ++sequence) {
    actor.insert(sequence, marked(ones, ones));
  }
  REQUIRE(actor.status().at("items") == 400'000);
  shard.request_snapshot();
  const Deadline deadline = soon();
  while (!actor.status().at("snapshot_running").get<bool>()) REQUIRE_FALSE(deadline.expired());
  shard.stop();
  CHECK(shard.last_status().at("snapshots") == 2);
  shard.start();
  ShardPeer again(shard);
  CHECK(again.status().at("items") == 400'000);
}

// Inserts behind the first wait until somebody draws.
replay::ReplayConfig draws_needed_config() {
  auto config = shard_config();
  config.credits_per_actor = 8;
  config.table.samples_per_insert = 1;
  config.table.error_buffer = 2;
  return config;
}

TEST_CASE("what was accepted and waits to be let in is in a shard's last snapshot",
          "[integration][replay]") {
  const TempDir folder;
  ServedShard shard(draws_needed_config(), 0, folder / "shard-0");
  ShardPeer actor(shard, shard_hello(kActor));
  actor.insert(1, marked({1, 2, 3, 4, 5}, {1, 1, 1, 1, 1}));
  actor.insert(2, marked({6}, {1}));
  actor.insert(3, marked({7, 8}, {1, 1}));
  REQUIRE(actor.status().at("inserts_waiting") == 2);
  shard.stop();
  CHECK(shard.last_status().at("inserts_waiting") == 0);
  shard.start();
  ShardPeer again(shard);
  CHECK(again.status().at("items") == 8);
}

TEST_CASE("reports of episodes that no learner came for are counted when their shard ends",
          "[integration][replay]") {
  const TempDir folder;
  ServedShard shard(draws_needed_config(), 0, folder / "shard-0");
  ShardPeer actor(shard, shard_hello(kActor));
  auto inserted = marked({1, 2, 3, 4, 5}, {1, 1, 1, 1, 1});
  inserted.episodes = {{-3, 10, 10, 7, 3}, {-2, 10, 10, 7, 3}};
  actor.insert(1, inserted);
  auto waits = marked({6}, {1});
  waits.episodes = {{-1, 10, 10, 7, 3}};
  actor.insert(2, waits);
  REQUIRE(actor.status().at("inserts_waiting") == 1);
  CHECK(actor.status().at("episodes_dropped") == 0);
  shard.stop();
  CHECK(shard.last_status().at("episodes_dropped") == 3);
}

TEST_CASE("a damaged snapshot is said, not loaded", "[integration][replay]") {
  const TempDir folder;
  const auto file = folder / "shard-0";
  {
    ServedShard shard(shard_config(), 0, file);
    ShardPeer actor(shard, shard_hello(kActor));
    actor.insert(1, marked({1, 2, 3}, {1, 1, 1}));
  }
  auto bytes = read_file(file);
  REQUIRE(bytes);
  (*bytes)[bytes->size() / 2] ^= 1;
  REQUIRE(write_file_atomically(file, *bytes));
  CHECK_THROWS_WITH(replay::Server(shard_run(), shard_config(), Seed{1}, 0, file),
                    Catch::Contains(file.string()));
}

}  // namespace
}  // namespace pacml::testing
