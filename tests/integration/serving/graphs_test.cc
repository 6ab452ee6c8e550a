// Graphs cross the wire once, when they are asked for.

#include <chrono>

#include "tests/support/catch.h"
#include "tests/support/served_learner.h"
#include "tests/support/transport_pairs.h"

namespace pacml::testing {
namespace {

using namespace std::chrono_literals;
using env::to_message;

TEMPLATE_TEST_CASE("experience brings the graphs that it names", "[integration][serving]",
                   InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  const auto actor = learner.actor();
  Sequences both = sample_sequences(1, learner.graph(1));
  both.observations.set_graphs({learner.graph(1).hash, learner.graph(0).hash});
  REQUIRE(actor->link.send(std::move(both), {}));
  const auto received = learner.next_from(*actor);
  CHECK(received.sequences.reward[0] == 1);
  REQUIRE(received.graphs.size() == 2);
  CHECK(*received.graphs[0] == learner.graph(1));
  CHECK(*received.graphs[1] == learner.graph(0));
}

TEMPLATE_TEST_CASE("a graph that has come is not asked for again, of nobody",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  auto first = learner.raw_peer();
  first.say(sample_hello(1));
  first.say_experience(1, learner.graph(0), sample_hello(1));
  const auto asked = first.template hear<wire::NeedGraph>();
  CHECK(asked.hash == learner.graph(0).hash);
  CHECK(learner.server().queue_depth() == 0);
  first.say(to_message(learner.graph(0)));
  REQUIRE(learner.server().pop({}, soon()));

  auto second = learner.raw_peer();
  second.say(sample_hello(2));
  second.say_experience(1, learner.graph(0), sample_hello(2));
  REQUIRE(learner.server().pop({}, soon()));
  for (const auto& message : second.hear_all()) {
    CHECK_FALSE(std::holds_alternative<wire::NeedGraph>(message));
  }
}

TEMPLATE_TEST_CASE("messages of an actor stay in order behind one that waits for a graph",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.say(to_message(learner.graph(0)));
  peer.say_experience(1, learner.graph(1));
  peer.say_experience(2, learner.graph(0));
  learner.counters_when([](const auto& c) { return c.accepted == 2; });
  CHECK(learner.server().queue_depth() == 0);
  peer.say(to_message(learner.graph(1)));
  for (const float mark : {1.0F, 2.0F}) {
    const auto received = learner.server().pop({}, soon());
    REQUIRE(received);
    CHECK(received->sequences.reward[0] == mark);
  }
}

TEMPLATE_TEST_CASE("a graph that was asked for in vain is asked for again",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.say_experience(1, learner.graph(1));
  peer.template hear<wire::NeedGraph>();
  peer.say(wire::Ping{1});
  CHECK(peer.template hear<wire::NeedGraph>().hash == learner.graph(1).hash);
}

TEMPLATE_TEST_CASE(
    "an actor that never sends a graph that it named is forgotten, whatever else it says",
    "[integration][serving]", InProcessPair, ZmqTcpPair) {
  learner::ExperienceServerConfig config;
  config.silence = std::chrono::milliseconds(300);
  ServedLearner<TestType> learner(config);
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.template hear<wire::Welcome>();
  peer.say_experience(1, learner.graph(1));
  const Deadline deadline = soon();
  bool forgotten = false;
  while (!forgotten && !deadline.expired()) {  // it is never silent
    peer.say(wire::Ping{1});
    forgotten = std::holds_alternative<wire::Refused>(peer.hear_any());
  }
  CHECK(forgotten);
}

TEMPLATE_TEST_CASE("graphs that no decision of the run is about are not kept, nor asked for",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.template hear<wire::Welcome>();
  env::GraphFeatures foreign = learner.graph(0);
  foreign.node_features[0] = 9;
  foreign.hash = env::hash_features(foreign);
  peer.say(to_message(foreign));
  CHECK(peer.template hear<wire::Refused>().why == wire::Refusal::kMalformed);
  peer.say_experience(1, foreign);
  CHECK(peer.template hear<wire::Refused>().why == wire::Refusal::kMalformed);
  // Its grant is as it was.
  peer.say(to_message(learner.graph(0)));
  peer.say_experience(1, learner.graph(0));
  REQUIRE(learner.server().pop({}, soon()));
  CHECK(learner.server().counters().refused == 2);
}

TEMPLATE_TEST_CASE("a graph that is not what its hash says is refused", "[integration][serving]",
                   InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.template hear<wire::Welcome>();
  peer.say_experience(1, learner.graph(0));
  peer.template hear<wire::NeedGraph>();
  wire::Graph forged = to_message(learner.graph(1));
  forged.hash = learner.graph(0).hash;
  peer.say(forged);
  CHECK(peer.template hear<wire::Refused>().why == wire::Refusal::kMalformed);
  CHECK(learner.server().queue_depth() == 0);
}

}  // namespace
}  // namespace pacml::testing
