#include <limits>
#include <string>

#include "tests/support/served_shards.h"

// What actors hand in, over the wire.

namespace pacml::testing {
namespace {

constexpr auto kActor = wire::Role::kActor;

TEST_CASE("a message is inserted once, however often it comes", "[integration][replay]") {
  ServedShard shard;
  ShardPeer actor(shard, shard_hello(kActor));
  actor.insert(1, marked({1, 2, 3}, {1, 1, 1}));
  actor.insert(1, marked({1, 2, 3}, {1, 1, 1}));
  actor.insert(3, marked({7, 8}, {1, 1}));
  actor.insert(2, marked({4, 5, 6}, {1, 1, 1}));  // overtaken: its number was passed over
  const auto status = actor.status();
  CHECK(status.at("items") == 5);
  CHECK(status.at("messages") == 2);
  CHECK(status.at("duplicates") == 2);
  CHECK(status.at("gaps") == 1);
}

TEST_CASE("a newer life of an actor ends the former one", "[integration][replay]") {
  ServedShard shard;
  ShardPeer former(shard, shard_hello(kActor, 5, 100));
  former.insert(1, marked({1}, {1}), shard_hello(kActor, 5, 100));
  ShardPeer present(shard, shard_hello(kActor, 5, 101));
  present.insert(1, marked({2}, {1}), shard_hello(kActor, 5, 101));
  former.say(wire::Insert{ActorId{5}, Incarnation{100}, Sequence{2}, marked({3}, {1})});
  CHECK(former.hear<wire::Refused>().why == wire::Refusal::kUnknownPeer);
  CHECK(present.status().at("items") == 2);
}

TEST_CASE("an actor that comes back needs no free place", "[integration][replay]") {
  auto config = shard_config();
  config.max_actors = 1;
  ServedShard shard(config);
  ShardPeer former(shard, shard_hello(kActor, 5, 100));
  ShardPeer present(shard, shard_hello(kActor, 5, 101));
  present.insert(1, marked({1}, {1}), shard_hello(kActor, 5, 101));
  CHECK(present.status().at("actors") == 1);
  ShardPeer another(shard);
  another.say(shard_hello(kActor, 6, 100));
  CHECK_THAT(another.hear<wire::Refused>().reason, Catch::Contains("replay.max_actors"));
}

TEST_CASE("each message returns a credit once it is in the table", "[integration][replay]") {
  auto config = shard_config();
  config.credits_per_actor = 2;
  ServedShard shard(config);
  ShardPeer actor(shard);
  actor.say(shard_hello(kActor));
  REQUIRE(actor.hear<wire::Welcome>().credits == 2);
  actor.insert(1, marked({1}, {1}));
  actor.say(wire::Ping{1});
  const auto credit = actor.hear<wire::Credit>();
  CHECK(credit.granted == 3);
  CHECK(credit.last_accepted == Sequence{1});
}

TEST_CASE("an actor that takes more than its credits is refused", "[integration][replay]") {
  auto config = shard_config();
  config.credits_per_actor = 1;
  config.table.samples_per_insert = 1;
  config.table.error_buffer = 2;
  ServedShard shard(config);
  ShardPeer actor(shard, shard_hello(kActor));
  // Nobody draws: the first message is more than the limiter wants, and the second one waits.
  actor.insert(1, marked({1, 2, 3, 4, 5}, {1, 1, 1, 1, 1}));
  actor.insert(2, marked({6}, {1}));
  actor.say(wire::Insert{ActorId{0}, Incarnation{100}, Sequence{3}, marked({7}, {1})});
  CHECK(actor.hear<wire::Refused>().why == wire::Refusal::kMalformed);
  const auto status = actor.status();
  CHECK(status.at("inserts_waiting") == 1);
  CHECK_THAT(status.at("limiter").get<std::string>(), Catch::Contains("inserts wait"));
}

TEST_CASE("what nobody draws from waits, as do the actors that would bring more",
          "[integration][replay]") {
  auto config = shard_config();
  config.credits_per_actor = 64;
  config.inserts_per_sample = 2.5;
  ServedShard shard(config);
  ShardPeer actor(shard, shard_hello(kActor));
  const std::vector<float> many(1U << 16, 1);
  constexpr std::uint64_t kMore = 20;  // messages than a burst has
  std::uint64_t sent = 0;
  const auto insert = [&](std::uint64_t messages) {
    for (; messages > 0; --messages) actor.insert(++sent, marked(many, many));
  };
  // While no learner is there, nobody is waited for.
  insert(kMore);
  CHECK(actor.status().at("inserts_waiting") == 0);
  {
    ShardPeer learner(shard, shard_hello(wire::Role::kLearner));
    insert(kMore);
    const auto status = actor.status();
    CHECK(status.at("inserts_waiting") > 0);
    CHECK(status.at("window") == 1);
    CHECK_THAT(status.at("limiter").get<std::string>(),
               Catch::Contains("actors wait") && Catch::Contains("lets 2.5 transitions in"));
    const auto inserted = status.at("inserted").get<std::uint64_t>();
    learner.say(wire::Sample{1, 1U << 15});
    static_cast<void>(learner.hear<wire::Samples>());
    learner.say(wire::Ping{1});
    static_cast<void>(learner.hear<wire::Pong>());
    CHECK(actor.status().at("inserted").get<std::uint64_t>() > inserted);
    learner.say(wire::Goodbye{"has enough"});
    learner.say(wire::Ping{2});
    CHECK(learner.hear<wire::Refused>().why == wire::Refusal::kUnknownPeer);
  }
  insert(1);
  CHECK(actor.status().at("inserts_waiting") == 0);
}

TEST_CASE("what is no priority is refused item by item, and counted", "[integration][replay]") {
  auto config = shard_config();
  config.priority_epsilon = 2;  // what is below 0 stays so
  ServedShard shard(config);
  ShardPeer actor(shard, shard_hello(kActor));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  actor.insert(1, marked({1, 2, 3, 4}, {1, nan, infinite, -1}));
  const auto status = actor.status();
  CHECK(status.at("items") == 1);
  CHECK(status.at("inserts_refused") == 3);
}

TEST_CASE("a shard turns away who does not fit, and says why", "[integration][replay]") {
  ServedShard shard;
  ShardPeer peer(shard);
  SECTION("another configuration") {
    auto hello = shard_hello(kActor);
    hello.config_hash = 8;
    hello.config_text = "env:\n  topology: [8, 4, 2]\n";
    peer.say(hello);
    const auto refused = peer.hear<wire::Refused>();
    CHECK(refused.why == wire::Refusal::kConfig);
    CHECK_THAT(refused.reason, Catch::Contains("topology"));
  }
  SECTION("another run") {
    auto hello = shard_hello(wire::Role::kLearner);
    hello.run_id = "run-2";
    peer.say(hello);
    CHECK(peer.hear<wire::Refused>().why == wire::Refusal::kRun);
  }
  SECTION("no Hello") {
    peer.say(wire::Sample{1, 1});
    CHECK(peer.hear<wire::Refused>().why == wire::Refusal::kUnknownPeer);
  }
  SECTION("bytes that are no message") {
    peer.say_bytes(Bytes(100, std::byte{0x5A}));
    CHECK(peer.hear<wire::Refused>().why == wire::Refusal::kMalformed);
    CHECK(peer.status().at("malformed") == 1);
  }
  SECTION("transitions of another width, who comes first be it who it may") {
    ShardPeer stranger(shard, shard_hello(kActor, 1));
    auto other = marked({}, {});
    other.transitions = Transitions(plain_shape(3, 3));
    stranger.say(wire::Insert{ActorId{1}, Incarnation{100}, Sequence{1}, other});
    CHECK(stranger.hear<wire::Refused>().why == wire::Refusal::kMalformed);
    ShardPeer actor(shard, shard_hello(kActor));
    actor.insert(1, marked({1}, {1}));
    CHECK(actor.status().at("items") == 1);
  }
  SECTION("transitions, and a graph, of another task") {
    const wire::Graph foreign = small_graph(9);
    ShardPeer actor(shard, shard_hello(kActor));
    actor.say(wire::Insert{ActorId{0}, Incarnation{100}, Sequence{1}, marked({1}, {1}, foreign)});
    CHECK(actor.hear<wire::Refused>().why == wire::Refusal::kMalformed);
    actor.say(foreign);
    CHECK(actor.hear<wire::Refused>().why == wire::Refusal::kMalformed);
    CHECK(actor.status().at("graphs") == 0);
  }
  SECTION("a graph that is not what its hash says") {
    ShardPeer actor(shard, shard_hello(kActor));
    auto graph = small_graph();
    graph.node_features[0] = 9;
    actor.say(graph);
    CHECK(actor.hear<wire::Refused>().why == wire::Refusal::kMalformed);
  }
}

}  // namespace
}  // namespace pacml::testing
