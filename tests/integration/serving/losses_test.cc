// Exactly once: what comes twice is dropped, what never comes is counted.

#include <atomic>
#include <chrono>
#include <set>

#include "tests/support/catch.h"
#include "tests/support/faulty_channel.h"
#include "tests/support/plain_observations.h"
#include "tests/support/served_learner.h"
#include "tests/support/transport_pairs.h"

namespace pacml::testing {
namespace {

using namespace std::chrono_literals;

TEMPLATE_TEST_CASE("what is sent arrives bit for bit", "[integration][serving]", InProcessPair,
                   ZmqTcpPair) {
  ServedLearner<TestType> learner;
  const auto actor = learner.actor();
  Sequences sent = sample_sequences(1, learner.graph(1));
  sent.flags[4] = Sequences::kTruncated;
  append_plain(sent.observations, 0, std::vector{0.1F, -2.0F}, std::vector<std::uint8_t>{0, 1, 0});
  sent.episodes = {{-1.5, 3, 5, 2, 1}};
  sent.versions = {{PolicyVersion{3}, 5}, {PolicyVersion{1'000'000}, 1}};
  sent.elapsed = {1, 0.5F, 3, 1, 1, 1e-3F};
  REQUIRE(validate(sent));
  REQUIRE(actor->link.send(Sequences(sent), {}));
  CHECK(learner.next_from(*actor).sequences == sent);
}

TEMPLATE_TEST_CASE("a message that comes twice counts once", "[integration][serving]",
                   InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.work = {.messages_per_actor = 2}});
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.say(env::to_message(learner.graph(0)));
  for (const std::uint64_t sequence : {1, 1, 2, 2, 1}) {
    peer.say_experience(sequence, learner.graph(0));
  }
  learner.counters_when([](const auto& c) { return c.duplicates == 3; });
  CHECK(learner.server().counters().accepted == 2);
  CHECK(learner.server().counters().refused == 0);
  CHECK(learner.server().queue_depth() == 2);
}

TEMPLATE_TEST_CASE("a message that never comes is counted, and does not keep its credit",
                   "[integration][serving]", InProcessPair, ZmqTcpPair) {
  ServedLearner<TestType> learner({.work = {.messages_per_actor = 3}});
  auto peer = learner.raw_peer();
  peer.say(sample_hello());
  peer.say(env::to_message(learner.graph(0)));
  peer.say_experience(3, learner.graph(0));
  const auto received = learner.server().pop({}, soon());
  REQUIRE(received);
  CHECK(learner.server().counters().gaps == 2);
  learner.server().consumed(*received);
  auto credit = peer.template hear<wire::Credit>();
  while (credit.granted < 6) credit = peer.template hear<wire::Credit>();  // said as it was before
  CHECK(credit.granted == 6);
  CHECK(credit.last_accepted == Sequence{3});
}

// Once the server has received all that was sent on this connection, on which nothing is lost:
// what it answers last, it has received last.
bool is_all_received(transport::FrameClient& client) {
  constexpr std::uint64_t kLast = 1'000'000;
  if (!client.send(wire::encode(wire::Ping{kLast}), soon())) return false;
  const Deadline deadline = soon();
  while (auto frame = client.receive(deadline)) {
    const auto message = wire::decode(*frame);
    if (message && *message == wire::Message(wire::Pong{kLast})) return true;
  }
  return false;
}

// What is lost on a connection that stands can only be seen in the sequence numbers.
TEST_CASE("over a network that loses and repeats, training goes on and every loss is accounted for",
          "[integration][serving]") {
  const auto seed = GENERATE(range(1, 6));
  INFO("seed " << seed);
  transport::InProcessHub hub;
  const auto router = hub.make_server();
  const auto publisher = hub.make_publisher();
  learner::ExperienceServer server(sample_run(), {.work = {.messages_per_actor = 4}});
  std::jthread serving([&](const std::stop_token& stop) { server.run(*router, *publisher, stop); });

  constexpr int kMessages = 150;
  const auto graphs = sample_graphs();
  // Somebody else has told the graph: no message waits for it, which would be void when its actor
  // joins again.
  RawPeer other(hub.connect());
  other.say(sample_hello(1));
  other.say(env::to_message(*graphs[0]));
  static_cast<void>(other.hear_all());
  const auto client = hub.connect();
  const auto announcements = hub.subscribe();
  FaultyClient faulty(*client, {.drop = 10, .duplicate = 10},
                      Seed{static_cast<std::uint64_t>(seed)});
  std::atomic<bool> all_sent{true};
  std::atomic<bool> all_received{false};
  std::jthread acting([&] {
    actor::LearnerLink link(faulty, *announcements, sample_hello(), graphs,
                            {.hello_interval = 10ms, .ping_interval = 5ms});
    for (int mark = 1; mark <= kMessages; ++mark) {
      if (!link.send(sample_sequences(static_cast<float>(mark), *graphs[0]), {})) all_sent = false;
    }
    all_received = is_all_received(*client);
  });

  std::set<float> marks;
  std::uint64_t received = 0;
  const Deadline deadline = soon();
  for (bool last = false; !last && !deadline.expired();) {
    last = all_received;
    while (auto message = server.pop({}, Deadline::in(last ? 0ms : 1ms))) {
      ++received;
      marks.insert(message->sequences.reward[0]);
      server.consumed(*message);
    }
  }
  CHECK(all_received);
  acting.join();
  CHECK(all_sent);
  CHECK(received == server.counters().accepted);  // each of them once
  CHECK(server.counters().gaps <= faulty.lost());
  CHECK(server.counters().duplicates > 0);
  CHECK(marks.size() + faulty.lost() >= kMessages - 4);
}

}  // namespace
}  // namespace pacml::testing
