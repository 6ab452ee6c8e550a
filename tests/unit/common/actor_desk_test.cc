#include "common/serving/actor_desk.h"

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/transport/in_process.h"
#include "common/wire/codec.h"
#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/transition_builder.h"

namespace pacml::serving {
namespace {

using namespace std::chrono_literals;

constexpr GraphHash kKnown{1};
constexpr GraphHash kUnknown{2};

wire::Hello hello(std::uint32_t actor = 0, std::uint64_t incarnation = 1) {
  wire::Hello out;
  out.actor = ActorId{actor};
  out.incarnation = Incarnation{incarnation};
  out.most_unrolls = 1;
  return out;
}

// Of three decisions.
wire::Experience experience(std::uint64_t sequence, GraphHash graph = kKnown,
                            const wire::Hello& self = hello()) {
  return {self.actor, self.incarnation, Sequence{sequence}, plain_sequences({3}, graph)};
}

RunIdentity run() {
  RunIdentity out;
  out.form = {.shape = plain_shape(2, 3), .graphs = {{kKnown, 1}, {kUnknown, 1}}};
  return out;
}

// One end of a conversation with a desk.
class Peer {
 public:
  explicit Peer(transport::InProcessHub& hub) : client_(hub.connect()) {}

  void say(const wire::Message& message) { say_frame(wire::encode(message)); }
  void say_frame(wire::Frame frame) { REQUIRE(client_->send(std::move(frame), Deadline::now())); }
  // The next message that has come, which is of type M.
  template <class M>
  M hear() {
    const auto frame = client_->receive(Deadline::now());
    REQUIRE(frame);
    auto message = wire::decode(*frame);
    REQUIRE(message);
    REQUIRE(std::holds_alternative<M>(*message));
    return std::get<M>(*std::move(message));
  }
  [[nodiscard]] bool has_heard_all() { return !client_->receive(Deadline::now()); }

 private:
  std::unique_ptr<transport::FrameClient> client_;
};

// A desk, and a server behind it that keeps what it takes. All on the test's thread.
class Served {
 public:
  explicit Served(std::size_t max_waiting_bytes = 1U << 20)
      : desk_(run(), {.work = {.messages_per_actor = 2}, .max_actors = 4, .silence = 10s},
              max_waiting_bytes,
              {.has_graph = [this](GraphHash hash) { return graphs.contains(hash); },
               .take =
                   [this](const transport::PeerId& peer, wire::Experience&& message,
                          std::size_t bytes) {
                     if (!has_room) return false;
                     taken.push_back({peer, std::move(message), bytes});
                     return true;
                   },
               .status = [] { return std::string("a status"); }},
              clock) {
    desk_.open(*transport_);
  }

  struct Taken {
    transport::PeerId peer;
    wire::Experience message;
    std::size_t bytes = 0;
  };

  ManualClock clock;
  std::set<GraphHash> graphs{kKnown};
  bool has_room = true;
  std::vector<Taken> taken;
  std::vector<wire::Message> left;  // to the server, of actors, besides experience

  [[nodiscard]] ActorDesk<wire::Experience>& desk() { return desk_; }
  [[nodiscard]] Peer peer() { return Peer(hub_); }
  [[nodiscard]] Peer welcomed(const wire::Hello& as = hello()) {
    Peer peer(hub_);
    peer.say(as);
    serve();
    static_cast<void>(peer.hear<wire::Welcome>());
    return peer;
  }
  // Deals with all that was said. `revoked`: the keys of those who said it.
  void serve(bool revoked = false) {
    while (auto incoming = transport_->receive(Deadline::now())) {
      incoming->key_name = "somebody";
      incoming->revoked = revoked;
      auto message = desk_.hear(*incoming);
      if (!message) continue;
      if (const auto* said = std::get_if<wire::Hello>(&*message)) {
        desk_.welcome(*incoming, *said, PolicyVersion{9});
      } else if (!desk_.knows(incoming->peer)) {
        desk_.refuse_stranger(incoming->peer);
      } else if (auto* sent = std::get_if<wire::Experience>(&*message)) {
        desk_.receive(incoming->peer, std::move(*sent), wire::frame_bytes(incoming->frame));
      } else {
        left.push_back(*std::move(message));
      }
    }
  }
  // The server is done with the first that it took.
  void consume() {
    desk_.let_go(taken.front().bytes);
    desk_.give_back(taken.front().peer, taken.front().message.sequences.num_decisions());
    taken.erase(taken.begin());
  }

 private:
  transport::InProcessHub hub_;
  std::unique_ptr<transport::FrameServer> transport_ = hub_.make_server();
  ActorDesk<wire::Experience> desk_;
};

TEST_CASE("an actor is welcomed, its experience taken, and its leave told") {
  Served served;
  auto actor = served.peer();
  actor.say(hello(7));
  served.serve();
  const auto welcome = actor.hear<wire::Welcome>();
  CHECK(welcome.credits == 2);
  CHECK(welcome.policy_version == PolicyVersion{9});
  static_cast<void>(served.desk().take_news());  // the Welcome has told of them
  actor.say(experience(1, kKnown, hello(7)));
  served.serve();
  REQUIRE(served.taken.size() == 1);
  CHECK(served.taken[0].message == experience(1, kKnown, hello(7)));
  CHECK(served.desk().status().at("in_flight") == 3 + 1);  // and what one grant is for
  CHECK(served.desk().take_news().empty());
  served.consume();
  const auto news = served.desk().take_news();
  REQUIRE(news.size() == 1);
  served.desk().say_credit(news[0]);
  const auto credit = actor.hear<wire::Credit>();
  CHECK(credit.granted == 3);
  CHECK(credit.last_accepted == Sequence{1});
}

TEST_CASE("who says that it is an actor may be it if it shows that one's key") {
  Served served;
  const auto actor = served.welcomed(hello(7));
  CHECK(served.desk().may_be({{}, {}, "somebody"}, ActorId{7}));
  CHECK_FALSE(served.desk().may_be({{}, {}, "another"}, ActorId{7}));
  CHECK(served.desk().may_be({{}, {}, "another"}, ActorId{8}));  // nobody's yet
}

TEST_CASE("what is no message is counted and refused, from whomever it comes") {
  Served served;
  auto peer = served.peer();
  peer.say_frame({{Bytes(100, std::byte{0x5A})}});
  served.serve();
  CHECK(peer.hear<wire::Refused>().why == wire::Refusal::kMalformed);
  CHECK(served.desk().counters().malformed == 1);
  CHECK(served.desk().counters().refused == 1);
}

TEST_CASE("a stranger is told the status, and otherwise to say Hello, which is no rejection") {
  Served served;
  auto peer = served.peer();
  peer.say(wire::GetStatus{});
  peer.say(wire::Ping{1});
  peer.say(wire::Goodbye{});
  served.serve();
  CHECK(peer.hear<wire::Status>().text == "a status");
  for (int i = 0; i < 2; ++i) {
    const auto refused = peer.hear<wire::Refused>();
    CHECK(refused.why == wire::Refusal::kUnknownPeer);
    CHECK(refused.reason == "say Hello first");
  }
  CHECK(served.desk().counters().refused == 0);
}

TEST_CASE("what only some servers are told is left to them") {
  Served served;
  auto actor = served.welcomed();
  actor.say(wire::GetWeights{PolicyVersion{4}});
  served.serve();
  REQUIRE(served.left.size() == 1);
  CHECK(served.left[0] == wire::Message(wire::GetWeights{PolicyVersion{4}}));
  CHECK(actor.has_heard_all());
}

TEST_CASE("who asks is told its leave and the graphs that are missing, before it is answered") {
  Served served;
  auto actor = served.welcomed();
  actor.say(experience(1, kUnknown));
  served.serve();
  CHECK(actor.hear<wire::NeedGraph>().hash == kUnknown);
  actor.say(wire::Ping{5});
  served.serve();
  CHECK(actor.hear<wire::Credit>().last_accepted == Sequence{1});
  CHECK(actor.hear<wire::NeedGraph>().hash == kUnknown);
  CHECK(actor.hear<wire::Pong>().nonce == 5);
  CHECK(actor.has_heard_all());
}

TEST_CASE("a message waits for its graphs, and those of its actor behind it") {
  Served served;
  auto actor = served.welcomed();
  actor.say(experience(1, kUnknown));
  actor.say(experience(2));
  served.serve();
  CHECK(served.taken.empty());
  CHECK(served.desk().waiting_for_graphs() == 2);
  served.graphs.insert(kUnknown);
  served.desk().deliver();
  REQUIRE(served.taken.size() == 2);
  CHECK(served.taken[0].message == experience(1, kUnknown));
  CHECK(served.taken[1].message == experience(2));
  CHECK(served.desk().waiting_for_graphs() == 0);
}

TEST_CASE("a message that the server cannot take yet is the same when it can") {
  Served served;
  served.has_room = false;
  auto actor = served.welcomed();
  actor.say(experience(1));
  served.serve();
  const std::size_t waiting = served.desk().status().at("bytes_waiting");
  CHECK(waiting == wire::frame_bytes(wire::encode(experience(1))));
  CHECK(actor.has_heard_all());  // no graph is missing
  served.has_room = true;
  served.desk().deliver();
  REQUIRE(served.taken.size() == 1);
  CHECK(served.taken[0].message == experience(1));
  CHECK(served.taken[0].bytes == waiting);
  CHECK(served.desk().status().at("bytes_waiting") == waiting);
  served.consume();
  CHECK(served.desk().status().at("bytes_waiting") == 0);
}

TEST_CASE("what there is no room for is dropped, and its leave comes back when there is some") {
  Served served(1);
  auto actor = served.welcomed();
  actor.say(experience(1));  // however large: else it would never get through
  actor.say(experience(2));
  served.serve();
  static_cast<void>(served.desk().take_news());
  CHECK(served.taken.size() == 1);
  CHECK(served.desk().counters().accepted == 2);
  CHECK(served.desk().counters().no_room == 1);
  CHECK_FALSE(served.desk().give_back_dropped());
  CHECK(served.desk().take_news().empty());
  served.desk().let_go(served.taken[0].bytes);
  CHECK(served.desk().give_back_dropped());
  CHECK(served.desk().take_news().size() == 1);
  CHECK_FALSE(served.desk().give_back_dropped());
}

TEST_CASE("a message is taken once, and none beyond what was granted") {
  Served served;
  auto actor = served.welcomed();
  for (const std::uint64_t sequence : {2, 2, 1}) actor.say(experience(sequence));
  served.serve();
  CHECK(actor.has_heard_all());
  actor.say(experience(3));
  actor.say(experience(2, kKnown, hello(1)));  // in another's name
  served.serve();
  for (int i = 0; i < 2; ++i) {
    const auto refused = actor.hear<wire::Refused>();
    CHECK(refused.why == wire::Refusal::kMalformed);
    CHECK(refused.reason == "experience of another actor, or more of it than was granted");
  }
  CHECK(served.taken.size() == 1);
  const auto counters = served.desk().counters();
  CHECK(counters.accepted == 1);
  CHECK(counters.duplicates == 2);
  CHECK(counters.gaps == 1);
  CHECK(counters.refused == 2);
}

TEST_CASE("when an actor is gone, nothing of it that waited takes up room") {
  Served served;
  auto actor = served.welcomed();
  actor.say(experience(1, kUnknown));
  served.serve();
  static_cast<void>(actor.hear<wire::NeedGraph>());
  SECTION("it left") {
    actor.say(wire::Goodbye{"enough"});
    served.serve();
  }
  SECTION("its key has left the list") {
    actor.say(wire::Ping{1});
    served.serve(true);
    const auto refused = actor.hear<wire::Refused>();
    CHECK(refused.why == wire::Refusal::kConfig);
    CHECK(refused.reason == "the key of somebody is no longer allowed here");
  }
  SECTION("it has come again on another connection, which leaves") {
    auto again = served.welcomed(hello(0, 2));
    CHECK(served.desk().counters().actors == 1);
    again.say(wire::Goodbye{"enough"});
    served.serve();
  }
  SECTION("it is asked for a graph, and says anything else") {
    for (int i = 0; i < 2; ++i) {
      served.clock.advance(5s);
      CHECK(served.desk().counters().actors == 1);
      actor.say(wire::Ping{1});
      served.serve();
      served.desk().forget_silent();
    }
  }
  SECTION("it has a grant, and is silent") {
    served.clock.advance(10s + Duration(1));
    served.desk().forget_silent();
  }
  CHECK(served.desk().counters().actors == 0);
  CHECK(served.desk().counters().no_room == 1);
  CHECK(served.desk().waiting_for_graphs() == 0);
  CHECK(served.desk().status().at("bytes_waiting") == 0);
  CHECK(served.desk().status().at("in_flight") == 0);
  served.graphs.insert(kUnknown);
  served.desk().deliver();
  CHECK(served.taken.empty());
}

TEST_CASE("experience that is none of the run's is refused, and its grant stays to be used") {
  Served served;
  auto actor = served.welcomed();
  const auto refused = [&](const wire::Message& message, const std::string& reason) {
    actor.say(message);
    served.serve();
    const auto answer = actor.hear<wire::Refused>();
    CHECK(answer.why == wire::Refusal::kMalformed);
    CHECK(answer.reason == reason);
  };
  wire::Experience wider = experience(1);
  wider.sequences = plain_sequences({3}, kKnown, 3);
  refused(wider, "the decisions are not as wide as this run's");
  refused(experience(1, GraphHash{3}), "the decisions are about a graph that this run has not");
  CHECK(served.desk().waiting_for_graphs() == 0);
  CHECK(served.desk().counters().accepted == 0);
  actor.say(experience(1));
  served.serve();
  CHECK(served.taken.size() == 1);
  CHECK(served.desk().expects(served.taken[0].peer, kUnknown));
  CHECK_FALSE(served.desk().expects(served.taken[0].peer, GraphHash{3}));
  CHECK(actor.hear<wire::Refused>().reason == "a graph that no decision of this run is about");
}

TEST_CASE("a shard's actors are refused in a shard's words") {
  transport::InProcessHub hub;
  const auto transport = hub.make_server();
  const Transitions transitions = plain_transitions(std::vector<PlainTransition>(2), kKnown);
  RunIdentity identity = run();
  identity.form.shape = transitions.observations.shape();
  ActorDesk<wire::Insert> desk(identity, {}, 1U << 20,
                               {.has_graph = [](GraphHash) { return true; },
                                .take = [](const auto&, auto&&, auto) { return true; },
                                .status = [] { return std::string(); }});
  desk.open(*transport);
  Peer actor(hub);
  actor.say(hello());
  auto incoming = transport->receive(Deadline::now());
  REQUIRE(incoming);
  desk.welcome(*incoming, hello(), PolicyVersion{0});
  static_cast<void>(actor.hear<wire::Welcome>());
  wire::Insert insert{ActorId{1}, Incarnation{1}, Sequence{1}, {}};
  insert.batch.transitions = transitions;
  insert.batch.priorities = {1, 1};
  CHECK_FALSE(desk.receive(incoming->peer, wire::Insert(insert), 1));
  CHECK(actor.hear<wire::Refused>().reason ==
        "transitions of another actor, or more of them than were granted");
  insert.actor = ActorId{0};
  CHECK(desk.receive(incoming->peer, std::move(insert), 1));
  CHECK(desk.status().at("in_flight") == 2 + 1);  // and what one grant is for
}

}  // namespace
}  // namespace pacml::serving
