// Weights: the newest wins, whoever comes late asks.

#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/served_learner.h"
#include "tests/support/transport_pairs.h"

namespace pacml::testing {
namespace {

using namespace std::chrono_literals;

template <class Actor>
model::Parameters next_weights(Actor& actor) {
  const Deadline deadline = soon();
  std::optional<model::Parameters> newer;
  while (!newer && !deadline.expired()) newer = actor.link.newest_parameters();
  REQUIRE(newer);
  return *newer;
}

TEMPLATE_TEST_CASE("an actor begins with the newest weights", "[integration][serving]",
                   InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  for (const std::uint64_t version : {1, 2, 3}) learner.server().publish(sample_weights(version));
  const auto actor = learner.actor();
  const auto first = actor->link.first_parameters({});
  REQUIRE(first);
  CHECK(*first == sample_weights(3));
  CHECK_FALSE(actor->link.newest_parameters());
}

TEMPLATE_TEST_CASE("weights of version 0 are weights", "[integration][serving]", InProcessPair,
                   ZmqTcpPair) {
  ServedLearner<TestType> learner;
  learner.server().publish(sample_weights(0));
  const auto actor = learner.actor();
  const auto first = actor->link.first_parameters({});
  REQUIRE(first);
  CHECK(*first == sample_weights(0));
}

TEMPLATE_TEST_CASE("an actor that comes before there are weights waits for them",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  const auto actor = learner.actor(sample_hello(), {.hello_interval = 20ms});
  std::jthread publisher([&] {
    while (learner.server().counters().actors == 0) std::this_thread::yield();
    learner.server().publish(sample_weights(1));
  });
  const auto first = actor->link.first_parameters({});
  REQUIRE(first);
  CHECK(*first == sample_weights(1));
}

TEMPLATE_TEST_CASE("an actor hears of newer weights and skips those between",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  learner.server().publish(sample_weights(1));
  const auto actor = learner.actor();
  REQUIRE(actor->link.first_parameters({}));
  for (std::uint64_t version = 2; version <= 40; ++version) {
    learner.server().publish(sample_weights(version));
  }
  std::uint64_t seen = 1;
  while (seen < 40) {
    const auto newer = next_weights(*actor);
    REQUIRE(newer.version.get() > seen);
    REQUIRE(newer == sample_weights(newer.version.get()));
    seen = newer.version.get();
  }
  CHECK(learner.server().weights_sent() < 40);
}

TEMPLATE_TEST_CASE("an actor follows a learner that went back to an older version",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  learner.server().publish(sample_weights(9));
  const auto actor = learner.actor(sample_hello(), {.ping_interval = 20ms});
  REQUIRE(actor->link.first_parameters({}));
  learner.kill_and_restart();
  learner.server().publish(sample_weights(4));
  for (float mark = 1; actor->link.joins() < 2; ++mark) {
    REQUIRE(actor->link.send(sample_sequences(mark, learner.graph(0)), {}));
  }
  CHECK(next_weights(*actor) == sample_weights(4));
}

TEMPLATE_TEST_CASE("a learner that goes on from older weights sends them to whoever has newer ones",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  learner.server().publish(sample_weights(9));
  auto peer = learner.raw_peer();
  peer.say(sample_hello(0));
  peer.say(wire::GetWeights{});
  CHECK(peer.template hear<wire::Weights>().version == PolicyVersion{9});
  auto without = learner.raw_peer();
  without.say(sample_hello(1));
  static_cast<void>(without.template hear<wire::Welcome>());
  learner.server().publish(sample_weights(4));
  CHECK(peer.template hear<wire::Weights>().version == PolicyVersion{4});
  for (auto* const one : {&peer, &without}) {  // once, and nobody else
    for (const auto& message : one->hear_all()) {
      CHECK_FALSE(std::holds_alternative<wire::Weights>(message));
    }
  }
}

// A transport over which weights are published just before the first word is handed over.
class PublishesMeanwhile final : public transport::FrameServer {
 public:
  PublishesMeanwhile(transport::FrameServer& inner, learner::ExperienceServer& server)
      : inner_(&inner), server_(&server) {}
  Result<transport::Incoming> receive(Deadline deadline) override {
    auto incoming = inner_->receive(deadline);
    if (incoming && !published_) {
      server_->publish(sample_weights(5));
      published_ = true;
    }
    return incoming;
  }
  Result<void> send(const transport::PeerId& peer, wire::Frame&& frame) override {
    return inner_->send(peer, std::move(frame));
  }
  void wake() override { inner_->wake(); }

 private:
  transport::FrameServer* inner_;
  learner::ExperienceServer* server_;
  bool published_ = false;
};

TEST_CASE("whoever comes just after weights were published is welcomed with them",
          "[integration][serving]") {
  InProcessPair pair;
  const auto inner = pair.make_server();
  const auto publisher = pair.make_publisher();
  learner::ExperienceServer server(sample_run(), {});
  PublishesMeanwhile transport(*inner, server);
  const std::jthread thread(
      [&](const std::stop_token& stop) { server.run(transport, *publisher, stop); });
  RawPeer peer(pair.connect());
  peer.say(sample_hello());
  CHECK(peer.hear<wire::Welcome>().policy_version == PolicyVersion{5});
}

TEMPLATE_TEST_CASE("whoever has the newest weights is not sent them again",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner;
  learner.server().publish(sample_weights(5));
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  CHECK(peer.template hear<wire::Welcome>().policy_version == PolicyVersion{5});
  peer.say(wire::GetWeights{PolicyVersion{5}});
  CHECK(peer.template hear<wire::WeightsAnnouncement>().version == PolicyVersion{5});
  peer.say(wire::GetWeights{PolicyVersion{7}});  // it went back: what it has is not ours
  CHECK(peer.template hear<wire::Weights>().version == PolicyVersion{5});
}

}  // namespace
}  // namespace pacml::testing
