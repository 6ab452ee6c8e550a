#include "bench/load/protocol_actor.h"

#include <thread>

#include "tests/support/catch.h"
#include "tests/support/served_learner.h"
#include "tests/support/transport_pairs.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;
using bench::ProtocolActor;
using testing::InProcessPair;
using testing::sample_graphs;
using testing::sample_hello;
using testing::sample_sequences;
using testing::sample_weights;
using testing::ServedLearner;
using testing::soon;

// A learner's end and one protocol actor that talks to it.
struct Conversation {
  explicit Conversation(const ProtocolActor::Pace& pace = {})
      : graphs(sample_graphs()),
        canned(bench::can({sample_sequences(1, *graphs[0]), sample_sequences(2, *graphs[1])})),
        transports(learner.actor()),
        actor({transports->client.get(), transports->announcements.get(), nullptr}, sample_hello(),
              graphs, canned, pace, round_trips) {}

  // Advances the actor until it is so.
  template <class Condition>
  void advance_until(Condition holds) {
    const Deadline deadline = soon();
    while (!holds()) {
      REQUIRE_FALSE(deadline.expired());
      REQUIRE(actor.advance(std::chrono::steady_clock::now()));
      std::this_thread::yield();
    }
  }
  // The next message that the learner gets, while the actor goes on.
  learner::ReceivedSequences next() {
    Result<learner::ReceivedSequences> received = fail(Errc::kTimeout);
    advance_until([&] {
      received = learner.server().pop({}, Deadline::now());
      return received.has_value();
    });
    return *std::move(received);
  }

  ServedLearner<InProcessPair> learner{{.work = {.messages_per_actor = 2}}};
  std::vector<env::GraphFeaturesPtr> graphs;
  bench::CannedExperience canned;
  std::unique_ptr<ServedLearner<InProcessPair>::Actor> transports;
  Histogram round_trips;
  ProtocolActor actor;
};

TEST_CASE("a protocol actor waits for weights before it sends", "[integration][load]") {
  Conversation c;
  c.advance_until([&] { return c.actor.joined(); });
  REQUIRE_FALSE(c.actor.ready());
  REQUIRE(c.actor.tally().sent == 0);
  c.learner.server().publish(sample_weights(7));
  const auto received = c.next();
  CHECK(received.sequences.versions.front() == VersionRun{PolicyVersion{7}, 6});
  CHECK(c.actor.tally().weights >= 1);
}

TEST_CASE("a protocol actor sends what it is granted, and its can in turn", "[integration][load]") {
  Conversation c;
  c.learner.server().publish(sample_weights(1));
  const auto first = c.next();
  const auto second = c.next();
  CHECK(first.sequences.reward[0] != second.sequences.reward[0]);
  for (int i = 0; i < 50; ++i) REQUIRE(c.actor.advance(std::chrono::steady_clock::now()));
  CHECK(c.actor.tally().sent == 2);
  CHECK(c.round_trips.count() == 0);

  c.learner.server().consumed(first);
  static_cast<void>(c.next());
  CHECK(c.actor.tally().sent == 3);
  c.advance_until([&] { return c.actor.tally().accepted >= 2; });
  CHECK(c.round_trips.count() == c.actor.tally().accepted);
  CHECK(c.actor.tally().decisions == 6 * c.actor.tally().accepted);
  CHECK(c.learner.server().counters().gaps == 0);
}

TEST_CASE("a protocol actor acts as long as its pace says, with the weights that it began with",
          "[integration][load]") {
  Conversation c({.first = 0ms, .per_decision = 1h});
  c.learner.server().publish(sample_weights(1));
  c.advance_until([&] { return c.actor.ready(); });
  const auto now = std::chrono::steady_clock::now();
  REQUIRE(c.actor.advance(now));
  CHECK(c.actor.tally().sent == 0);
  c.learner.server().publish(sample_weights(2));
  REQUIRE(c.actor.advance(now + 5h));
  CHECK(c.actor.tally().sent == 0);
  REQUIRE(c.actor.advance(now + 7h));
  CHECK(c.actor.tally().sent == 1);
  const auto received = c.next();
  CHECK(received.sequences.num_decisions() == 6);
  CHECK(received.sequences.versions.front() == VersionRun{PolicyVersion{1}, 6});
}

TEST_CASE("what a learner took with it stays unaccepted", "[integration][load]") {
  Conversation c;
  c.learner.server().publish(sample_weights(1));
  c.advance_until([&] { return c.actor.tally().sent == 2; });
  c.actor.fall_silent();
  c.learner.kill_and_restart();
  c.learner.server().publish(sample_weights(1));
  c.advance_until([&] { return c.actor.tally().joins == 2; });
  CHECK(c.actor.unaccepted() == 2);
}

}  // namespace
}  // namespace pacml
