// How a learner that ends in order sends its actors home, over connections that lose that word.

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/served_learner.h"
#include "tests/support/transport_pairs.h"

namespace pacml::testing {
namespace {

using namespace std::chrono_literals;

// Far longer than any test: whoever waits so long waits for what does not come.
constexpr learner::ExperienceServerConfig kLingers{.farewell = 10min};

// What comes of sending until the learner's end.
template <class Actor>
Error sends_until_the_end(Actor& actor, const env::GraphFeatures& graph) {
  Result<void> sent = {};
  while (sent) sent = actor.link.send(sample_sequences(1, graph), {});
  return sent.error();
}

TEMPLATE_TEST_CASE("an actor that does not hear the learner's goodbye is told again",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner(kLingers);
  const auto actor = learner.actor();
  REQUIRE(actor->link.join({}));
  learner.lose_goodbyes(3);
  auto ended =
      std::async(std::launch::async, [&] { return sends_until_the_end(*actor, learner.graph(0)); });
  learner.stop();
  CHECK(ended.get().code == Errc::kStopped);
  CHECK(learner.goodbyes_lost() == 3);
}

TEMPLATE_TEST_CASE("an actor that comes back on another connection is told on that one",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner(kLingers);
  auto peer = std::make_unique<RawPeer>(learner.raw_peer());
  peer->say(sample_hello(0, 100));
  static_cast<void>(peer->template hear<wire::Welcome>());
  learner.lose_goodbyes(1);
  learner.begin_to_stop();
  learner.wait_for_lost_goodbyes(1);
  peer = std::make_unique<RawPeer>(learner.raw_peer());
  peer->say(sample_hello(0, 101));
  CHECK(peer->template hear<wire::Refused>().why == wire::Refusal::kStopping);
  peer->say(wire::Goodbye{"heard"});
  learner.stop();  // ends, and soon
}

TEMPLATE_TEST_CASE("a stranger that comes to a learner that ends is sent away",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner(kLingers);
  auto first = learner.raw_peer();
  first.say(sample_hello(0));
  static_cast<void>(first.template hear<wire::Welcome>());
  learner.begin_to_stop();
  CHECK(first.template hear<wire::Refused>().why == wire::Refusal::kStopping);
  auto second = learner.raw_peer();
  second.say(sample_hello(1));
  CHECK(second.template hear<wire::Refused>().why == wire::Refusal::kStopping);
  auto third = learner.raw_peer();
  third.say(wire::Ping{1});
  CHECK(third.template hear<wire::Refused>().why == wire::Refusal::kStopping);
  third.say(wire::GetStatus{});
  CHECK_FALSE(third.template hear<wire::Status>().text.empty());
  first.say(wire::Goodbye{"heard"});
  learner.stop();
}

TEMPLATE_TEST_CASE("a learner that ends does not wait for actors that are gone",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner(kLingers);
  {
    auto peer = learner.raw_peer();
    peer.say(sample_hello());
    static_cast<void>(peer.template hear<wire::Welcome>());
  }
  learner.stop();
}

TEST_CASE("a learner that ends waits no longer than it may for an actor that says nothing",
          "[integration][serving]") {
  ServedLearner<InProcessPair> learner({.farewell = 50ms});
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  static_cast<void>(peer.hear<wire::Welcome>());
  learner.stop();
}

TEST_CASE("a learner that fails asks nobody for a confirmation", "[integration][serving]") {
  ServedLearner<InProcessPair> learner(kLingers);
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  static_cast<void>(peer.hear<wire::Welcome>());
  learner.server().keep_actors();
  learner.stop();
  CHECK(peer.hear<wire::Refused>().why == wire::Refusal::kUnknownPeer);
}

}  // namespace
}  // namespace pacml::testing
