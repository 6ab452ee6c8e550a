// Who is welcomed, who is turned away and with what sentence, and how a conversation ends.

#include <array>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/listening.h"
#include "tests/support/served_learner.h"
#include "tests/support/transport_pairs.h"

namespace pacml::testing {
namespace {

using namespace std::chrono_literals;
using wire::Refusal;

TEMPLATE_TEST_CASE("an actor that agrees is welcomed with what it needs to know",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.work = {.messages_per_actor = 3}});
  const auto actor = learner.actor();
  const auto welcome = actor->link.join({});
  REQUIRE(welcome);
  CHECK(welcome->run_id == "run-1");
  CHECK(welcome->run_seed == Seed{42});
  CHECK(welcome->credits == 3);
  CHECK(welcome->max_policy_lag == 20);
  CHECK(actor->link.joins() == 1);
  CHECK(learner.server().counters().actors == 1);
  CHECK(learner.server().counters().refused == 0);
}

TEMPLATE_TEST_CASE("an actor that differs is told what differs, and gives up",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  wire::Hello hello = sample_hello();
  const actor::LinkConfig asks_once{.hello_interval = 1h};  // however late it hears
  SECTION("the configuration") {
    hello.config_hash = 8;
    hello.config_text = "env:\n  topology: [4, 4, 4]\nnetwork:\n  rounds: 2\n";
    const auto actor = learner.actor(hello, asks_once);
    const auto refused = actor->link.join({});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::kVersionMismatch);
    CHECK(refused.error().detail ==
          "the actor's configuration differs from the learner's (here: learner): "
          "env.topology: [4, 4, 2] here, [4, 4, 4] there");
    // For good: it does not ask again.
    CHECK(actor->link.send(sample_sequences(1, learner.graph(0)), {}).error().code ==
          Errc::kVersionMismatch);
  }
  SECTION("the run") {
    hello.run_id = "run-2";
    const auto actor = learner.actor(hello, asks_once);
    const auto refused = actor->link.join({});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().detail == "the actor belongs to run run-2, this is run run-1");
  }
  SECTION("the role") {
    hello.role = wire::Role::kReplay;
    auto peer = learner.raw_peer();
    peer.say(hello);
    const auto refused = peer.template hear<wire::Refused>();
    CHECK(refused.why == Refusal::kConfig);
    CHECK_THAT(refused.reason, Catch::Contains("talks to actors, not to a replay"));
  }
  CHECK(learner.server().counters().refused == 1);
  CHECK(learner.server().counters().actors == 0);
}

TEMPLATE_TEST_CASE("a newer life of an actor replaces the older one, never the other way round",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  auto older = learner.raw_peer();
  auto newer = learner.raw_peer();
  older.say(sample_hello(5, 100));
  older.template hear<wire::Welcome>();
  newer.say(sample_hello(5, 101));
  newer.template hear<wire::Welcome>();
  CHECK(learner.server().counters().actors == 1);

  older.say_experience(1, learner.graph(0), sample_hello(5, 100));
  CHECK(older.template hear<wire::Refused>().why == Refusal::kUnknownPeer);
  older.say(sample_hello(5, 100));
  CHECK(older.template hear<wire::Refused>().why == Refusal::kStale);
  CHECK(learner.server().counters().accepted == 0);
}

TEMPLATE_TEST_CASE("of two actors with one number, the one that came first gives up",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  const auto first = learner.actor(sample_hello(5, 100));
  REQUIRE(first->link.join({}));
  const auto second = learner.actor(sample_hello(5, 1'000));
  REQUIRE(second->link.join({}));
  REQUIRE(second->link.send(sample_sequences(1, learner.graph(0)), {}));

  Result<void> sent = {};
  const Deadline deadline = soon();
  while (sent && !deadline.expired()) {
    sent = first->link.send(sample_sequences(1, learner.graph(0)), {});
  }
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code == Errc::kVersionMismatch);
  CHECK_THAT(sent.error().detail, Catch::Contains("newer incarnation"));
  CHECK(second->link.send(sample_sequences(2, learner.graph(0)), {}));
}

TEMPLATE_TEST_CASE("an actor that starts again after the clock went back gets in, and is heard",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  const auto former = learner.actor(sample_hello(5, 1'000'000));
  REQUIRE(former->link.join({}));
  REQUIRE(former->link.send(sample_sequences(1, learner.graph(0)), {}));
  learner.next_from(*former);
  const bool gone = GENERATE(false, true);
  if (gone) {
    former->link.leave("killed");
    learner.counters_when([](const auto& c) { return c.actors == 0; });
  }

  const auto later = learner.actor(sample_hello(5, 100));  // an hour earlier, says its clock
  REQUIRE(later->link.join({}));
  REQUIRE(later->link.send(sample_sequences(2, learner.graph(0)), {}));
  CHECK(learner.next_from(*later).sequences.reward[0] == 2);
  const auto counters = learner.server().counters();
  CHECK(counters.accepted == 2);
  CHECK(counters.duplicates == 0);
  CHECK(counters.gaps == 0);
  CHECK(counters.actors == 1);
}

TEMPLATE_TEST_CASE("a learner that has its fill of actors says so", "[integration][serving]",
                   InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.max_actors = 1});
  const auto first = learner.actor(sample_hello(0));
  REQUIRE(first->link.join({}));
  const auto second = learner.actor(sample_hello(1));
  const auto refused = second->link.join({});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::kVersionMismatch);
  CHECK(refused.error().detail ==
        "the learner already has as many actors as learner.max_actors allows: 1");
  first->link.leave("done");
  learner.counters_when([](const auto& c) { return c.actors == 0; });
  const auto third = learner.actor(sample_hello(2));
  CHECK(third->link.join({}));
}

TEMPLATE_TEST_CASE("an actor whom the learner does not know joins again by itself",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  const auto actor = learner.actor(sample_hello(0, 100), {.ping_interval = 50ms, .silence = 60s});
  REQUIRE(actor->link.join({}));
  REQUIRE(actor->link.send(sample_sequences(1, learner.graph(0)), {}));
  REQUIRE(actor->link.send(sample_sequences(2, learner.graph(0)), {}));
  learner.next_from(*actor);
  learner.next_from(*actor);

  learner.kill_and_restart();
  // Out of credits that the new learner knows nothing of: the Ping finds out.
  REQUIRE(actor->link.send(sample_sequences(3, learner.graph(0)), {}));
  CHECK(actor->link.joins() == 2);
  CHECK(actor->link.unacknowledged() == 2);
  CHECK(learner.next_from(*actor).sequences.reward[0] == 3);
  const auto counters = learner.server().counters();
  CHECK(counters.accepted == 1);
  CHECK(counters.gaps == 0);
  CHECK(counters.duplicates == 0);
}

TEMPLATE_TEST_CASE("a learner that stops sends its actors home", "[integration][serving]",
                   InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  const auto actor = learner.actor();
  REQUIRE(actor->link.join({}));
  learner.stop();
  Result<void> sent = {};
  while (sent) sent = actor->link.send(sample_sequences(1, learner.graph(0)), {});
  CHECK(sent.error().code == Errc::kStopped);
  CHECK(sent.error().detail == "the learner stops");
  CHECK(learner.server().pop({}, soon()).error().code == Errc::kStopped);
}

// What an actor logs that asks, for a minute and in vain, whether there is a learner.
std::string heard_in_vain(transport::FrameClient& client) {
  InProcessPair pair;
  const auto announcements = pair.subscribe();
  ManualClock clock;
  const testing::Listening log;
  actor::LearnerLink link(client, *announcements, sample_hello(), {}, {.give_up = 60s}, clock);
  auto joined = std::async(std::launch::async, [&link] { return link.join({}).has_value(); });
  const Deadline deadline = soon();
  const TimePoint begun = clock.now();
  while (joined.wait_for(1ms) != std::future_status::ready) {
    REQUIRE_FALSE(deadline.expired());
    // It says so after ten seconds, if it has a turn before it gives up.
    if (clock.now() - begun < 11s || !log.heard().empty()) clock.advance(100ms);
  }
  CHECK_FALSE(joined.get());
  return log.heard();
}

TEST_CASE("an actor that nobody answers says so, once", "[integration][serving]") {
  InProcessPair pair;
  CHECK(heard_in_vain(*pair.connect()) ==
        "no learner has answered for 10 s: is it there, can its name and port be reached?");
}

TEST_CASE("an actor that nobody answers says where it asked", "[integration][serving]") {
  ZmqIpcPair pair;
  CHECK_THAT(heard_in_vain(*pair.connect()),
             Catch::StartsWith("no learner has answered at ipc:///") &&
                 Catch::Contains("/server for 10 s: is it there"));
}

TEMPLATE_TEST_CASE("an actor stops waiting for a learner when it is told to",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  TestType pair;
  const auto server = pair.make_server();
  const auto publisher = pair.make_publisher();
  const auto client = pair.connect();
  const auto announcements = pair.subscribe();
  SECTION("by a stop token") {
    actor::LearnerLink link(*client, *announcements, sample_hello(), {}, {.give_up = 1h});
    std::stop_source stop;
    std::jthread stopper([&] {
      if (server->receive(soon())) stop.request_stop();  // its first Hello has come
    });
    CHECK(link.join(stop.get_token()).error().code == Errc::kStopped);
  }
  SECTION("by its own patience") {
    actor::LearnerLink link(*client, *announcements, sample_hello(), {}, {.give_up = 1s});
    const auto none = link.join({});
    REQUIRE_FALSE(none);
    CHECK(none.error().code == Errc::kTimeout);
    CHECK(none.error().detail == "no learner answered within 1 s");
  }
}

TEMPLATE_TEST_CASE("an actor that is silent although it may speak is forgotten",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.silence = 0s});
  const auto actor = learner.actor();
  REQUIRE(actor->link.join({}));
  learner.counters_when([](const auto& c) { return c.actors == 0; });
  REQUIRE(actor->link.send(sample_sequences(1, learner.graph(0)), {}));
}

TEMPLATE_TEST_CASE("a learner that another one replaces while an actor acts is joined meanwhile",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  const auto actor = learner.actor();
  REQUIRE(actor->link.join({}));
  REQUIRE(actor->link.next_work({}));
  learner.kill_and_restart();
  wait_until("it has joined the other one", [&actor] {
    REQUIRE(actor->link.tend());
    return actor->link.joins() == 2;
  });
  REQUIRE(actor->link.send(sample_sequences(5, learner.graph(0)), {}));
  CHECK(learner.next_from(*actor).sequences.reward[0] == 5);
  CHECK(actor->link.unacknowledged() == 0);
}

TEMPLATE_TEST_CASE("bytes that are no message are counted, and change nothing for the others",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  const auto actor = learner.actor();
  REQUIRE(actor->link.join({}));
  auto stranger = learner.raw_peer();
  stranger.say_bytes({});
  stranger.say_bytes(Bytes(300, std::byte{0x41}));
  // A well-formed header, then a MessagePack array that claims 2^32 - 1 elements.
  Bytes bomb;
  for (const int byte : {0x50, 0x41, 0x43, 0x4c, 1, 0, 1, 0, 0xdd, 0xff, 0xff, 0xff, 0xff}) {
    bomb.push_back(static_cast<std::byte>(byte));
  }
  stranger.say_bytes(std::move(bomb));
  for (int i = 0; i < 3; ++i) {
    CHECK(stranger.template hear<wire::Refused>().why == Refusal::kMalformed);
  }
  // What only a learner says is no crime, but the stranger has not even said Hello.
  stranger.say(wire::Credit{1'000'000, {}});
  CHECK(stranger.template hear<wire::Refused>().why == Refusal::kUnknownPeer);
  stranger.say_experience(1, learner.graph(0));
  CHECK(stranger.template hear<wire::Refused>().why == Refusal::kUnknownPeer);

  CHECK(learner.server().counters().malformed == 3);
  REQUIRE(actor->link.send(sample_sequences(8, learner.graph(0)), {}));
  CHECK(learner.next_from(*actor).sequences.reward[0] == 8);
  CHECK(learner.server().counters().accepted == 1);
}

TEST_CASE("a learner that fails asks its actors to come again, one that stops does not",
          "[integration][serving]") {
  ServedLearner<InProcessPair> learner;
  RawPeer actor = learner.raw_peer();
  actor.say(sample_hello(3, 1));
  static_cast<void>(actor.hear<wire::Welcome>());
  const bool fails = GENERATE(false, true);
  if (fails) learner.server().keep_actors();
  learner.stop();
  CHECK(actor.hear<wire::Refused>().why ==
        (fails ? wire::Refusal::kUnknownPeer : wire::Refusal::kStopping));
}

}  // namespace
}  // namespace pacml::testing
