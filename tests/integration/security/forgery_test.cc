// Frames that were recorded, made up, or said in another's name change nothing but counters.

#include <chrono>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/served_learner.h"
#include "tests/support/soon.h"
#include "tests/support/transport_pairs.h"

namespace pacml {
namespace {

using testing::sample_hello;
using testing::ServedLearner;
using testing::soon;
using testing::ZmqCurvePair;

struct Scene {
  ServedLearner<ZmqCurvePair> learner{{.work = {.messages_per_actor = 4}}};
  wire::Hello victim = sample_hello(0, 100);
  testing::RawPeer actor = learner.raw_peer();

  Scene() {
    actor.say(victim);
    actor.say(env::to_message(learner.graph(0)));
    actor.say_experience(1, learner.graph(0), victim);
    learner.counters_when([](const auto& c) { return c.accepted == 1; });
  }
  // What must hold whatever was tried: the victim goes on as if nothing had happened.
  void check_unharmed(std::uint64_t refused, std::uint64_t duplicates) {
    actor.say_experience(2, learner.graph(0), victim);
    learner.counters_when([](const auto& c) { return c.accepted == 2; });
    const auto counters = learner.server().counters();
    CHECK(counters.refused == refused);
    CHECK(counters.duplicates == duplicates);
    CHECK(counters.gaps == 0);
    CHECK(counters.malformed == 0);
    // Messages are counted before they can be learned from.
    const Deadline deadline = testing::soon();
    while (learner.server().queue_depth() < 2 && !deadline.expired()) std::this_thread::yield();
    CHECK(learner.server().queue_depth() == 2);
  }
};

TEST_CASE("a recorded message that is sent again, by its own connection, counts once",
          "[integration][security]") {
  Scene scene;
  for (int i = 0; i < 5; ++i) scene.actor.say_experience(1, scene.learner.graph(0), scene.victim);
  scene.learner.counters_when([](const auto& c) { return c.duplicates == 5; });
  scene.check_unharmed(0, 5);
}

TEST_CASE("a recorded message from a connection that never said Hello is nobody's",
          "[integration][security]") {
  Scene scene;
  auto stranger = scene.learner.raw_peer();
  stranger.say_experience(1, scene.learner.graph(0), scene.victim);
  stranger.say_experience(2, scene.learner.graph(0), scene.victim);
  CHECK(stranger.hear<wire::Refused>().why == wire::Refusal::kUnknownPeer);
  CHECK(stranger.hear<wire::Refused>().why == wire::Refusal::kUnknownPeer);
  scene.check_unharmed(0, 0);
}

TEST_CASE("a welcomed actor cannot speak for another one", "[integration][security]") {
  Scene scene;
  auto other = scene.learner.raw_peer();
  other.say(sample_hello(1, 7));
  static_cast<void>(other.hear<wire::Welcome>());
  SECTION("with its recorded messages, or messages to come") {
    other.say_experience(1, scene.learner.graph(0), scene.victim);
    other.say_experience(2, scene.learner.graph(0), scene.victim);
    CHECK(other.hear<wire::Refused>().why == wire::Refusal::kMalformed);
    CHECK(other.hear<wire::Refused>().why == wire::Refusal::kMalformed);
    scene.check_unharmed(2, 0);
  }
  SECTION("nor use up the numbers of its own life beyond its credits") {
    other.say_experience(1'000'000, scene.learner.graph(0), sample_hello(1, 7));
    CHECK(other.hear<wire::Refused>().why == wire::Refusal::kMalformed);
    scene.check_unharmed(1, 0);
  }
  SECTION("nor take its place with a Hello that was recorded from an earlier life") {
    other.say(sample_hello(0, 99));
    CHECK(other.hear<wire::Refused>().why == wire::Refusal::kStale);
    scene.check_unharmed(1, 0);
  }
}

TEST_CASE("a graph that is not what its hash says is not believed", "[integration][security]") {
  Scene scene;
  auto forged = env::to_message(scene.learner.graph(1));
  forged.node_features[0] += 1;
  scene.actor.say(forged);
  CHECK(scene.actor.hear<wire::Refused>().why == wire::Refusal::kMalformed);
  scene.check_unharmed(1, 0);
}

TEST_CASE("what only a server says is ignored when a client says it", "[integration][security]") {
  Scene scene;
  auto other = scene.learner.raw_peer();
  other.say(sample_hello(1, 7));
  static_cast<void>(other.hear<wire::Welcome>());
  other.say(wire::Weights{PolicyVersion{9'999}, 1, std::vector<float>(5)});
  other.say(wire::WeightsAnnouncement{PolicyVersion{9'999}, 1});
  other.say(wire::Credit{1'000'000, Sequence{0}});
  other.say(wire::Refused{wire::Refusal::kStopping, "forged"});
  static_cast<void>(other.hear_all());
  scene.check_unharmed(0, 0);
}

}  // namespace
}  // namespace pacml
