// Grants: who may act, and how much of what came of it may exist anywhere.

#include <algorithm>
#include <chrono>
#include <future>

#include "tests/support/catch.h"
#include "tests/support/served_learner.h"
#include "tests/support/transport_pairs.h"

namespace pacml::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto kAWhile = 300ms;  // for what must not come

TEMPLATE_TEST_CASE("an actor sends no more than its credits until the learner has consumed",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.work = {.messages_per_actor = 2}});
  auto& server = learner.server();
  std::stop_source stop;
  const ManualClock clock;  // stands still: no silence is so long that it would join again
  const auto actor = learner.actor(sample_hello(), {}, clock);
  auto sender = std::async(std::launch::async, [&] {
    float mark = 0;
    Result<void> sent = {};
    while (sent)
      sent = actor->link.send(sample_sequences(++mark, learner.graph(0)), stop.get_token());
    return mark - 1;
  });

  const auto first = server.pop({}, soon());
  REQUIRE(first);
  REQUIRE(server.pop({}, soon()));
  // Taken from the queue is not consumed.
  REQUIRE(server.pop({}, Deadline::in(kAWhile)).error().code == Errc::kTimeout);
  server.consumed(*first);
  const auto third = server.pop({}, soon());
  REQUIRE(third);
  REQUIRE(third->sequences.reward[0] == 3);
  REQUIRE(server.pop({}, Deadline::in(kAWhile)).error().code == Errc::kTimeout);
  for (int i = 0; i < 2; ++i) server.consumed(*first);
  for (const float mark : {4.0F, 5.0F}) {
    const auto next = server.pop({}, soon());
    REQUIRE(next);
    REQUIRE(next->sequences.reward[0] == mark);
  }
  REQUIRE(server.pop({}, Deadline::in(kAWhile)).error().code == Errc::kTimeout);

  stop.request_stop();
  REQUIRE(sender.get() == 5);
  REQUIRE(actor->link.joins() == 1);
}

TEMPLATE_TEST_CASE("experience beyond what was granted is refused", "[integration][serving]",
                   InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.work = {.messages_per_actor = 2}});
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.template hear<wire::Welcome>();
  for (const std::uint64_t sequence : {1, 2, 3}) peer.say_experience(sequence, learner.graph(0));
  CHECK(peer.template hear<wire::Refused>().why == wire::Refusal::kMalformed);
  CHECK(learner.server().counters().accepted == 2);
}

TEMPLATE_TEST_CASE(
    "messages that would exceed the bytes that may wait are dropped and counted, and "
    "their credits come back when there is room",
    "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.work = {.messages_per_actor = 3}, .max_waiting_bytes = 1});
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.template hear<wire::Welcome>();
  peer.say(env::to_message(learner.graph(0)));
  for (const std::uint64_t sequence : {1, 2, 3}) peer.say_experience(sequence, learner.graph(0));
  learner.counters_when([](const auto& c) { return c.no_room == 2; });
  CHECK(learner.server().counters().accepted == 3);
  CHECK(learner.server().queue_depth() == 1);  // however large: else it would never get through
  peer.say(wire::Ping{3});
  CHECK(peer.template hear<wire::Credit>().granted == 3);
  const auto first = learner.server().pop({}, soon());
  REQUIRE(first);
  CHECK(first->sequences.reward[0] == 1);
  learner.server().consumed(*first);
  while (peer.template hear<wire::Credit>().granted < 6) {
  }
  peer.say_experience(4, learner.graph(0));
  const auto fourth = learner.server().pop({}, soon());
  REQUIRE(fourth);
  CHECK(fourth->sequences.reward[0] == 4);
}

TEMPLATE_TEST_CASE("experience in another actor's name is refused", "[integration][serving]",
                   InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  auto peer = learner.raw_peer();
  peer.say(sample_hello(1, 100));
  peer.template hear<wire::Welcome>();
  const auto name = GENERATE(sample_hello(2, 100), sample_hello(1, 101));
  peer.say_experience(1, learner.graph(0), name);
  CHECK(peer.template hear<wire::Refused>().why == wire::Refusal::kMalformed);
  CHECK(learner.server().counters().accepted == 0);
}

TEMPLATE_TEST_CASE("a credit that was missed is said again to whoever asks",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.work = {.messages_per_actor = 2}});
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.template hear<wire::Welcome>();
  peer.say(wire::Ping{0});
  const auto credit = peer.template hear<wire::Credit>();
  CHECK(credit.granted == 2);
  CHECK(credit.last_accepted == Sequence{0});
  CHECK(peer.template hear<wire::Pong>().nonce == 0);
}

TEMPLATE_TEST_CASE("actors beyond those that the window has room for wait for their turn",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  // Room for two messages of all.
  ServedLearner<TestType> learner(window_of(12));
  auto first = learner.raw_peer();
  auto second = learner.raw_peer();
  first.say(able_hello(1));
  const auto welcome = first.template hear<wire::Welcome>();
  CHECK(welcome.credits == 2);
  CHECK(welcome.unrolls == 3);
  second.say(able_hello(2));
  CHECK(second.template hear<wire::Welcome>().credits == 0);

  first.say_experience(1, learner.graph(0), able_hello(1));
  if (auto need = first.template hear<wire::NeedGraph>(); need.hash == learner.graph(0).hash) {
    first.say(env::to_message(learner.graph(0)));
  }
  const auto received = learner.server().pop({}, soon());
  REQUIRE(received);
  // Taken from the queue is not consumed.
  second.say(wire::Ping{0});
  CHECK(second.template hear<wire::Credit>().granted == 0);
  learner.server().consumed(*received);
  // Whoever was served least comes next, and in smaller messages, since they are two now.
  const auto credit = second.template hear<wire::Credit>();
  CHECK(credit.granted >= 1);
  CHECK(credit.unrolls == 1);
}

TEMPLATE_TEST_CASE("what an actor was granted goes to others when it leaves",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner(window_of(12));
  auto first = learner.raw_peer();
  auto second = learner.raw_peer();
  first.say(able_hello(1));
  REQUIRE(first.template hear<wire::Welcome>().credits == 2);
  second.say(able_hello(2));
  REQUIRE(second.template hear<wire::Welcome>().credits == 0);
  first.say(wire::Goodbye{"enough"});
  CHECK(second.template hear<wire::Credit>().granted >= 1);
}

TEMPLATE_TEST_CASE("what an actor was granted and does not use goes to others after a while",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  auto config = window_of(12);
  config.work.patience = 50ms;
  ServedLearner<TestType> learner(config);
  auto dead = learner.raw_peer();
  auto other = learner.raw_peer();
  dead.say(able_hello(1));
  REQUIRE(dead.template hear<wire::Welcome>().credits == 2);
  other.say(able_hello(2));
  static_cast<void>(other.template hear<wire::Welcome>());
  CHECK(other.template hear<wire::Credit>().granted >= 1);
  // It was only slow: its message is as good as any.
  dead.say_experience(1, learner.graph(0), able_hello(1));
  learner.counters_when([](const auto& counters) { return counters.accepted == 1; });
}

TEMPLATE_TEST_CASE("with leave to act come weights, where an actor's are too old for that",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.work = {.messages_per_actor = 1}});
  auto& server = learner.server();
  server.publish(sample_weights(1));
  auto actor = learner.raw_peer();
  actor.say(sample_hello());
  actor.template hear<wire::Welcome>();
  actor.say(wire::GetWeights{PolicyVersion{0}});
  REQUIRE(actor.template hear<wire::Weights>().version == PolicyVersion{1});
  actor.say_experience(1, learner.graph(0));
  actor.template hear<wire::NeedGraph>();
  actor.say(env::to_message(learner.graph(0)));
  // The weights that come before leave for the message after this one.
  const auto weights_before = [&](std::uint64_t sequence) {
    const auto received = server.pop({}, soon());
    REQUIRE(received);
    server.consumed(*received);
    std::vector<std::uint64_t> versions;
    const Deadline deadline = soon();
    for (bool granted = false; !granted && !deadline.expired();) {
      for (const auto& message : actor.hear_all()) {
        if (const auto* weights = std::get_if<wire::Weights>(&message)) {
          versions.push_back(weights->version.get());
        } else if (const auto* credit = std::get_if<wire::Credit>(&message)) {
          granted = granted || credit->granted > sequence;
        }
      }
    }
    return versions;
  };
  // max_policy_lag is 20, and a quarter of that is no hurry.
  server.publish(sample_weights(5));
  CHECK(weights_before(1).empty());
  actor.say_experience(2, learner.graph(0));
  server.publish(sample_weights(6));
  CHECK(weights_before(2) == std::vector<std::uint64_t>{6});
}

}  // namespace
}  // namespace pacml::testing
