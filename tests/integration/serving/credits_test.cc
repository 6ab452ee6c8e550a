// Credits: how much of an actor's experience may exist anywhere.

#include <chrono>
#include <future>

#include "tests/support/catch.h"
#include "tests/support/served_learner.h"
#include "tests/support/transport_pairs.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;
using testing::InProcessPair;
using testing::sample_hello;
using testing::sample_unrolls;
using testing::ServedLearner;
using testing::soon;
using testing::ZmqTcpPair;

constexpr auto kAWhile = 300ms;  // for what must not come

TEMPLATE_TEST_CASE("an actor sends no more than its credits until the learner has consumed",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.credits_per_actor = 2});
  auto& server = learner.server();
  std::stop_source stop;
  const ManualClock clock;  // stands still: no silence is so long that it would join again
  const auto actor = learner.actor(sample_hello(), {}, clock);
  auto sender = std::async(std::launch::async, [&] {
    float mark = 0;
    Result<void> sent = {};
    while (sent)
      sent = actor->link.send(sample_unrolls(++mark, learner.graph(0)), stop.get_token());
    return mark - 1;
  });

  const auto first = server.pop({}, soon());
  REQUIRE(first);
  REQUIRE(server.pop({}, soon()));
  // Taken from the queue is not consumed.
  REQUIRE(server.pop({}, Deadline::in(kAWhile)).error().code == Errc::kTimeout);
  server.consumed(first->peer);
  const auto third = server.pop({}, soon());
  REQUIRE(third);
  REQUIRE(third->unrolls.reward[0] == 3);
  REQUIRE(server.pop({}, Deadline::in(kAWhile)).error().code == Errc::kTimeout);
  for (int i = 0; i < 2; ++i) server.consumed(first->peer);
  for (const float mark : {4.0F, 5.0F}) {
    const auto next = server.pop({}, soon());
    REQUIRE(next);
    REQUIRE(next->unrolls.reward[0] == mark);
  }
  REQUIRE(server.pop({}, Deadline::in(kAWhile)).error().code == Errc::kTimeout);

  stop.request_stop();
  REQUIRE(sender.get() == 5);
  REQUIRE(actor->link.joins() == 1);
}

TEMPLATE_TEST_CASE("experience beyond what was granted is refused", "[integration][serving]",
                   InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.credits_per_actor = 2});
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.template hear<wire::Welcome>();
  for (const std::uint64_t sequence : {1, 2, 3}) peer.say_experience(sequence, learner.graph(0));
  CHECK(peer.template hear<wire::Refused>().why == wire::Refusal::kMalformed);
  CHECK(learner.server().counters().accepted == 2);
}

TEMPLATE_TEST_CASE("messages that would exceed the bytes that may wait are dropped and counted, and "
                   "their credits come back when there is room",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.credits_per_actor = 3, .max_waiting_bytes = 1});
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
  CHECK(first->unrolls.reward[0] == 1);
  learner.server().consumed(first->peer);
  while (peer.template hear<wire::Credit>().granted < 6) {
  }
  peer.say_experience(4, learner.graph(0));
  const auto fourth = learner.server().pop({}, soon());
  REQUIRE(fourth);
  CHECK(fourth->unrolls.reward[0] == 4);
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
  ServedLearner<TestType> learner({.credits_per_actor = 2});
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.template hear<wire::Welcome>();
  peer.say(wire::Ping{0});
  const auto credit = peer.template hear<wire::Credit>();
  CHECK(credit.granted == 2);
  CHECK(credit.last_accepted == Sequence{0});
  CHECK(peer.template hear<wire::Pong>().nonce == 0);
}

}  // namespace
}  // namespace pacml
