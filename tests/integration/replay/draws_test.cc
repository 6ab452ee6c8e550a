#include <map>
#include <string>

#include "tests/support/served_shards.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wire_samples.h"

// What a learner draws from one shard, over the wire and through its client.

namespace pacml::testing {
namespace {

constexpr auto kActor = wire::Role::kActor;
constexpr auto kLearner = wire::Role::kLearner;

TEST_CASE("draws wait until there is enough to draw from", "[integration][replay]") {
  auto config = shard_config();
  config.table.min_size = 3;
  ServedShard shard(config);
  ShardPeer actor(shard, shard_hello(kActor));
  ShardPeer learner(shard, shard_hello(kLearner));
  actor.insert(1, marked({1, 2}, {1, 1}));
  learner.say(wire::Sample{9, 4});
  learner.say(wire::Ping{1});
  static_cast<void>(learner.hear<wire::Pong>());
  const auto status = learner.status();
  CHECK(status.at("samples_waiting") == 1);
  CHECK_THAT(status.at("limiter").get<std::string>(), Catch::Contains("samples wait"));
  actor.insert(2, marked({3}, {1}));
  const auto samples = learner.hear<wire::Samples>();
  CHECK(samples.request == 9);
  CHECK(samples.transitions.size() == 4);
  CHECK(samples.shard.size == 3);
  CHECK(samples.shard.inserted == 3);
}

TEST_CASE("an item is drawn with the probability that its priority says", "[integration][replay]") {
  ServedShard shard;
  ShardPeer actor(shard, shard_hello(kActor));
  ShardPeer learner(shard, shard_hello(kLearner));
  actor.insert(1, marked({1, 2}, {1, 3}));
  learner.say(wire::Sample{1, 2000});
  const auto samples = learner.hear<wire::Samples>();
  std::size_t heavy = 0;
  for (std::size_t i = 0; i < samples.transitions.size(); ++i) {
    const bool is_heavy = mark_of(samples.transitions, i) == 2;
    heavy += is_heavy ? 1 : 0;
    REQUIRE(samples.probabilities[i] == Approx(is_heavy ? 0.75 : 0.25));
  }
  CHECK(heavy > 1400);
  CHECK(heavy < 1600);
}

TEST_CASE("a new priority counts, and one for an evicted item does not", "[integration][replay]") {
  auto config = shard_config();
  config.table.capacity = 2;
  ServedShard shard(config);
  ShardPeer actor(shard, shard_hello(kActor));
  ShardPeer learner(shard, shard_hello(kLearner));
  actor.insert(1, marked({1, 2}, {1, 1}));
  learner.say(wire::Sample{1, 64});
  const auto before = learner.hear<wire::Samples>();
  std::map<float, std::uint64_t> key_of;
  for (std::size_t i = 0; i < 64; ++i) key_of[mark_of(before.transitions, i)] = before.keys[i];
  actor.insert(2, marked({3}, {1}));  // takes the slot of 1
  learner.say(wire::PriorityUpdates{{key_of.at(1), key_of.at(2)}, {100, 0}});
  learner.say(wire::Sample{2, 64});
  const auto after = learner.hear<wire::Samples>();
  for (std::size_t i = 0; i < 64; ++i) {
    REQUIRE(mark_of(after.transitions, i) == 3);
    REQUIRE(after.probabilities[i] == Approx(1.0));
  }
  const auto status = learner.status();
  CHECK(status.at("updates_applied") == 1);
  CHECK(status.at("updates_for_evicted_items") == 1);
}

TEST_CASE("a learner's client hands out batches with their graphs", "[integration][replay]") {
  ServedShard shard;
  ShardPeer actor(shard, shard_hello(kActor));
  const auto first = small_graph(1);
  const auto second = small_graph(2);
  actor.insert(1, marked({1, 2}, {1, 1}, first), shard_hello(kActor), first);
  actor.insert(2, marked({3, 4}, {1, 1}, second), shard_hello(kActor), second);
  ServedShard* const shards[] = {&shard};
  ServedClient client(shards, {.batch_size = 32, .prefetch = 2});
  for (int n = 0; n < 5; ++n) {
    const auto batch = client.next();
    REQUIRE(batch.transitions.size() == 32);
    REQUIRE(batch.probabilities.size() == 32);
    REQUIRE(validate(batch.transitions));
    for (std::size_t i = 0; i < 32; ++i) {
      const Observations& observations = batch.transitions.observations;
      const std::uint16_t index = observations.graph(Transitions::state(i));
      const wire::Graph& graph = *batch.graphs.at(index);
      REQUIRE(graph == (batch.transitions.heads[i].n_step_return <= 2 ? first : second));
      REQUIRE(observations.graphs()[index] == graph.hash);
    }
  }
}

TEST_CASE("transitions of any lengths are drawn as they were inserted, also after a restart",
          "[integration][replay]") {
  const TempDir folder;
  ObservationShape shape = plain_shape(2, 5);
  shape.slots.push_back({.dynamic_width = 2, .focus = true});
  shape.candidates_vary = shape.candidates_name_nodes = true;
  shape.candidate_width = 3;
  ServedShard shard(shard_config(), 0, folder / "shard", shard_run(shape));
  PrioritizedTransitions batch;
  Observations& observations = batch.transitions.observations;
  observations = Observations(shape);
  observations.set_graphs({small_graph().hash});
  Rng rng(Seed{7});
  for (std::size_t i = 0; i < 40; ++i) {
    append_random_row(observations, rng, small_graph().num_nodes);
    append_random_row(observations, rng, small_graph().num_nodes);
    const auto mark = static_cast<float>(i);
    batch.transitions.heads.push_back(
        {PolicyVersion{1}, mark, 0.5F, random_action(observations.mask(2 * i), rng), 1});
    batch.priorities.push_back(1);
  }
  {
    ShardPeer actor(shard, shard_hello(kActor));
    actor.insert(1, batch);
  }
  if (GENERATE(false, true)) {
    shard.stop();
    shard.start();
  }
  ServedShard* const shards[] = {&shard};
  ServedClient client(shards, {.batch_size = 64, .prefetch = 1});
  const auto drawn = client.next();
  REQUIRE(validate(drawn.transitions));
  const auto one = [](const Transitions& from, std::size_t i) {
    Transitions out(from.observations.shape());
    out.append(from.heads[i], from.observations, 2 * i, from.observations, 2 * i + 1);
    return out;
  };
  for (std::size_t i = 0; i < 64; ++i) {
    const auto mark = static_cast<std::size_t>(mark_of(drawn.transitions, i));
    REQUIRE(one(drawn.transitions, i) == one(batch.transitions, mark));
  }
}

TEST_CASE("a shard answers no request for more than a message holds", "[integration][replay]") {
  ObservationShape shape = plain_shape(2, 3);
  shape.slots.push_back({.dynamic_width = 1024});  // two nodes: some 16 kB a transition
  ServedShard shard(shard_config(), 0, {}, shard_run(shape));
  PrioritizedTransitions batch;
  Observations& observations = batch.transitions.observations;
  observations = Observations(shape);
  observations.set_graphs({small_graph().hash});
  Rng rng(Seed{7});
  append_random_row(observations, rng, small_graph().num_nodes);
  append_random_row(observations, rng, small_graph().num_nodes);
  batch.transitions.heads.push_back(
      {PolicyVersion{1}, 1, 0.5F, random_action(observations.mask(0), rng), 1});
  batch.priorities = {1};
  ShardPeer actor(shard, shard_hello(kActor));
  actor.insert(1, batch);
  ShardPeer learner(shard, shard_hello(kLearner));
  learner.say(wire::Sample{1, 20'000});
  CHECK_THAT(learner.hear<wire::Refused>().reason, Catch::Contains("more draws"));
  learner.say(wire::Sample{2, 50});
  CHECK(learner.hear<wire::Samples>().transitions.size() == 50);
  // Features of more nodes than the graph has are none of this run's.
  append_random_row(observations, rng, 100);
  append_random_row(observations, rng, 100);
  batch.transitions.heads.push_back(
      {PolicyVersion{1}, 1, 0.5F, random_action(observations.mask(2), rng), 1});
  batch.priorities = {1, 1e30F};
  actor.say(wire::Insert{ActorId{0}, Incarnation{100}, Sequence{2}, batch});
  CHECK(actor.hear<wire::Refused>().why == wire::Refusal::kMalformed);
}

TEST_CASE("what the learner finds out reaches the items, and what was inserted the learner",
          "[integration][replay]") {
  ServedShard shard;
  ShardPeer actor(shard, shard_hello(kActor));
  auto inserted = marked({1, 2}, {1, 1});
  inserted.episodes = {{-3, 10, 10, 7, 3}};
  actor.insert(1, inserted);
  ServedShard* const shards[] = {&shard};
  ServedClient client(shards, {.batch_size = 64, .prefetch = 1});
  const auto batch = client.next();
  std::vector<float> priorities;
  for (std::size_t i = 0; i < 64; ++i) {
    priorities.push_back(mark_of(batch.transitions, i) == 1 ? 0.0F : 5.0F);
  }
  client->report_priorities(batch.ticket, priorities);
  // Batches that were drawn before the update arrived may still be on their way.
  bool only_the_second = false;
  for (const Deadline deadline = soon(); !only_the_second && !deadline.expired();) {
    const auto later = client.next();
    only_the_second = true;
    for (std::size_t i = 0; i < 64; ++i) only_the_second &= mark_of(later.transitions, i) == 2;
  }
  CHECK(only_the_second);
  const auto news = client->take_news();
  CHECK(news.inserted == 2);
  REQUIRE(news.episodes.size() == 1);
  CHECK(news.episodes[0] == inserted.episodes[0]);
  CHECK(client->take_news().episodes.empty());
}

TEST_CASE("a learner that a shard does not want ends with the shard's sentence",
          "[integration][replay]") {
  ServedShard shard;
  auto hello = shard_hello(kLearner);
  hello.run_id = "run-2";
  replay::Client client(hello, 1, {}, Seed{1});
  const auto link = shard.connect();
  transport::FrameClient* const links[] = {link.get()};
  CHECK_THROWS_WITH(client.run(links, {}), Catch::Contains("replay shard 0 refuses: the learner "
                                                           "belongs to run run-2"));
}

}  // namespace
}  // namespace pacml::testing
