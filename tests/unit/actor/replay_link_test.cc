#include "actor/replay_link.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actor/learner_link.h"
#include "tests/support/catch.h"
#include "tests/support/wire_samples.h"
#include "tests/unit/actor/scripted_server.h"

namespace pacml::actor {
namespace {

using namespace std::chrono_literals;
using testing::ScriptedServer;
using testing::Stage;
using Mood = ScriptedServer::Mood;

const LinkConfig kQuick{
    .hello_interval = 10ms, .ping_interval = 10ms, .silence = 400ms, .give_up = 20s};

wire::Hello sample_hello() {
  wire::Hello hello;
  hello.actor = ActorId{3};
  hello.incarnation = Incarnation{100};
  hello.config_hash = 7;
  return hello;
}

std::vector<env::GraphFeaturesPtr> sample_graphs() {
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->num_nodes = 1;
  graph->node_width = graph->edge_width = 1;
  graph->node_features = {1};
  graph->hash = env::hash_features(*graph);
  return {graph};
}

// Recognisable by its number of episodes' decisions.
PrioritizedTransitions sample_batch(std::int64_t mark) {
  Rng rng(Seed{static_cast<std::uint64_t>(mark)});
  auto batch = testing::random_insert(rng).batch;
  batch.episodes = {{0, mark, 0, 0, 0}};
  return batch;
}

std::int64_t mark_of(const wire::Insert& insert) { return insert.batch.episodes.at(0).decisions; }

// A link between a learner and a shard.
struct Connected {
  Stage stage;
  ScriptedServer learner{stage};
  ScriptedServer shard{stage};
  std::unique_ptr<transport::FrameClient> to_learner = learner.connect();
  std::unique_ptr<transport::FrameSubscriber> announcements = learner.subscribe();
  std::unique_ptr<transport::FrameClient> to_shard = shard.connect();
  ReplayLink link;

  explicit Connected(const LinkConfig& config = kQuick, std::optional<Duration> shard_give_up = {})
      : link(*to_learner, *announcements, *to_shard, sample_hello(), sample_graphs(), config,
             shard_give_up, stage.clock()) {}

  [[nodiscard]] Result<void> send(std::int64_t mark) { return link.send(sample_batch(mark), {}); }
  // Acts as a loop does, which takes its time, until `holds`.
  template <class Condition>
  [[nodiscard]] bool act_until(Condition holds) {
    for (std::int64_t mark = 1'000; mark < 10'000; ++mark) {
      if (auto newer = link.newest_parameters()) weights = std::move(newer);
      if (holds()) return true;
      stage.pass();
      if (!send(mark)) return false;
    }
    return false;
  }
  std::optional<model::Parameters> weights;  // that act_until() got last
};

TEST_CASE("transitions go to the shard bit for bit, numbered, and to nobody else",
          "[unit][actor]") {
  Connected c;
  REQUIRE(c.link.join({}));
  for (std::int64_t mark = 1; mark <= 10; ++mark) REQUIRE(c.send(mark));
  const auto& inserts = c.shard.inserts();
  REQUIRE(inserts.size() == 10);
  for (std::int64_t i = 0; i < 10; ++i) {
    const wire::Insert& insert = inserts[static_cast<std::size_t>(i)];
    CHECK(insert.actor == ActorId{3});
    CHECK(insert.incarnation == Incarnation{100});
    CHECK(insert.sequence.get() == static_cast<std::uint64_t>(i) + 1);
    CHECK(insert.batch == sample_batch(i + 1));
  }
  CHECK(c.learner.inserts().empty());
  CHECK(c.shard.hellos().front() == sample_hello());
  CHECK(c.learner.hellos().front() == sample_hello());
  CHECK(c.link.shard_joins() == 1);
  CHECK(c.link.unacknowledged() == 0);
}

TEST_CASE("the welcome and the weights are the learner's", "[unit][actor]") {
  Connected c;
  c.learner.publish(7);
  c.shard.publish(9);
  const auto welcome = c.link.join({});
  REQUIRE(welcome);
  CHECK(welcome->policy_version == PolicyVersion{7});
  const auto first = c.link.first_parameters({});
  REQUIRE(first);
  CHECK(first->version == PolicyVersion{7});
  c.learner.publish(8);
  REQUIRE(c.act_until([&] { return c.weights.has_value(); }));
  CHECK(c.weights->version == PolicyVersion{8});
}

TEST_CASE("no more is sent than the shard has granted, however long that takes", "[unit][actor]") {
  Connected c;
  c.shard.allow(1);
  REQUIRE(c.link.join({}));
  for (std::int64_t mark = 1; mark <= 3; ++mark) REQUIRE(c.send(mark));
  bool waited = false;
  c.stage.after(10 * kQuick.silence, [&] {
    waited = true;
    // It asks meanwhile, and the learner is looked after, too.
    CHECK(c.shard.pings() > 3);
    CHECK(c.learner.pings() > 3);
    CHECK(c.shard.inserts().size() == 3);
    c.shard.allow(2);
  });
  REQUIRE(c.send(4));
  CHECK(waited);
  CHECK(c.shard.inserts().size() == 4);
  CHECK(c.link.shard_joins() == 1);
  CHECK(c.link.learner_joins() == 1);
}

TEST_CASE("a shard that forgot us is joined again, as a new incarnation", "[unit][actor]") {
  Connected c;
  c.shard.allow(0);
  REQUIRE(c.link.join({}));
  REQUIRE(c.send(1));
  REQUIRE(c.send(2));
  c.shard.restart();  // out of credits that the new one knows nothing of: the Ping finds out
  REQUIRE(c.send(3));
  REQUIRE(c.shard.inserts().size() == 3);
  const wire::Insert& third = c.shard.inserts().back();
  CHECK(mark_of(third) == 3);
  CHECK(third.incarnation == Incarnation{101});
  CHECK(third.sequence == Sequence{1});
  CHECK(c.link.shard_joins() == 2);
  CHECK(c.link.unacknowledged() == 0);  // both had been accepted
  CHECK(c.learner.hellos().back().incarnation == Incarnation{100});
}

TEST_CASE("who acts for long tells both that it is there", "[unit][actor]") {
  Connected c;
  REQUIRE(c.link.join({}));
  REQUIRE(c.send(1));
  const auto act_for = [&c](Duration time) {
    const TimePoint begun = c.stage.clock().now();
    while (c.stage.clock().now() - begun < time) {
      REQUIRE(c.link.tend());
      c.stage.pass();
    }
  };
  act_for(10 * kQuick.silence);
  CHECK(c.shard.pings() > 10);
  CHECK(c.learner.pings() > 10);
  CHECK(c.link.shard_joins() == 1);
  SECTION("and comes back to a shard that forgot it before it has anything to send") {
    c.shard.restart();
    c.learner.restart();
    act_for(kQuick.silence);
    CHECK(c.link.shard_joins() == 2);
    CHECK(c.link.learner_joins() == 2);
    REQUIRE(c.send(2));
    CHECK(mark_of(c.shard.inserts().back()) == 2);
    CHECK(c.link.unacknowledged() == 0);
  }
  SECTION("and hears at once of a learner's end") {
    c.learner.become(Mood::kStops);
    Result<void> tended;
    for (int turn = 0; turn < 1'000 && tended; ++turn) {
      tended = c.link.tend();
      c.stage.pass();
    }
    REQUIRE_FALSE(tended);
    CHECK(tended.error().code == Errc::kStopped);
    CHECK(c.send(2).error().code == Errc::kStopped);
  }
}

TEST_CASE("what was on its way to a shard that died counts as unacknowledged", "[unit][actor]") {
  Connected c;
  REQUIRE(c.send(1));
  c.shard.become(Mood::kIsDead);
  REQUIRE(c.send(2));
  REQUIRE(c.send(3));
  // Out of credits and of patience, it says Hello to a silent house, and nothing else.
  c.stage.once([&] { return c.shard.hellos().size() > 5; },
               [&] {
                 CHECK(c.shard.inserts().size() == 1);
                 c.shard.become(Mood::kServes);
               });
  REQUIRE(c.send(4));
  CHECK(c.stage.over());
  CHECK(c.link.shard_joins() == 2);
  REQUIRE(c.shard.inserts().size() == 2);
  CHECK(mark_of(c.shard.inserts().back()) == 4);
  CHECK(c.shard.inserts().back().incarnation == Incarnation{101});
  CHECK(c.link.unacknowledged() == 2);
}

TEST_CASE("what a shard says of a former conversation counts nothing in the next one",
          "[unit][actor]") {
  Connected c;
  REQUIRE(c.send(1));
  REQUIRE(c.send(2));
  c.shard.become(Mood::kIsSuspended);
  REQUIRE(c.send(3));
  REQUIRE(c.send(4));
  // Behind two messages and some Pings that it has not heard come Hellos.
  c.stage.once([&] { return c.shard.unheard() > 60; }, [&] { c.shard.become(Mood::kServes); });
  REQUIRE(c.send(5));
  CHECK(c.shard.inserts().back().sequence == Sequence{1});
  CHECK(c.link.shard_joins() == 2);
  const auto before = c.link.unacknowledged();
  CHECK(before == 2);
  c.shard.restart();
  REQUIRE(c.send(6));
  REQUIRE(c.send(7));
  REQUIRE(c.send(8));
  CHECK(c.link.shard_joins() == 3);
  CHECK(c.link.unacknowledged() - before <= 2);
}

TEST_CASE("a shard that stops in order is waited for", "[unit][actor]") {
  Connected c;
  REQUIRE(c.send(1));
  c.shard.become(Mood::kStops);
  c.stage.once([&] { return c.shard.hellos().size() > 2; },
               [&] {
                 c.shard.become(Mood::kServes);
                 c.shard.restart();
               });
  for (std::int64_t mark = 2; mark <= 6; ++mark) REQUIRE(c.send(mark));
  CHECK(c.stage.over());
  CHECK(c.link.shard_joins() == 2);
}

TEST_CASE("a Welcome that was for a former life is none", "[unit][actor]") {
  Connected c;
  REQUIRE(c.link.join({}));
  REQUIRE(c.send(1));
  c.shard.become(Mood::kIsDead);
  // It says Hello again by then, and hears what was on its way to it before.
  c.stage.once([&] { return c.shard.hellos().size() > 3; }, [&] { c.shard.welcome_former(50); });
  c.stage.after(1s, [&] {
    CHECK(c.link.shard_joins() == 1);
    c.shard.become(Mood::kServes);
  });
  for (std::int64_t mark = 2; mark <= 6; ++mark) REQUIRE(c.send(mark));
  CHECK(c.stage.over());
  CHECK(c.link.shard_joins() == 2);
}

TEST_CASE("where another learner may be had, a shard is waited for as long as ever",
          "[unit][actor]") {
  LinkConfig config = kQuick;
  config.give_up = 5s;  // then the next learner is tried
  Connected c(config, 100s);
  REQUIRE(c.link.join({}));
  const TimePoint begun = c.stage.clock().now();
  SECTION("which is not the learner's fault") {
    c.shard.become(Mood::kIsDead);
    Result<void> sent;
    while (sent) sent = c.send(1);
    CHECK(sent.error().code == Errc::kTimeout);
    CHECK(c.link.shard_is_gone());
    CHECK(c.stage.clock().now() - begun >= 100s);
  }
  SECTION("but not the learner") {
    c.learner.become(Mood::kIsDead);
    while (c.send(1)) c.stage.pass();
    CHECK_FALSE(c.link.shard_is_gone());
    CHECK(c.stage.clock().now() - begun < 10s);
  }
}

TEST_CASE("a shard that never comes ends the link, after its patience", "[unit][actor]") {
  LinkConfig config = kQuick;
  config.give_up = 600s;
  Connected c(config);
  REQUIRE(c.link.join({}));
  c.shard.become(Mood::kIsDead);
  const TimePoint begun = c.stage.clock().now();
  const auto sent = c.send(1);
  CHECK(c.stage.clock().now() - begun >= config.give_up);
  CHECK(c.stage.clock().now() - begun < config.give_up + 1s);
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code == Errc::kTimeout);
  CHECK(sent.error().detail == "no replay shard answered within 600 s");
  CHECK(c.send(2).error().detail == sent.error().detail);
}

TEST_CASE("a shard that reads nothing, so that the queue stays full, is one that has gone",
          "[unit][actor]") {
  Connected c;
  REQUIRE(c.link.join({}));
  REQUIRE(c.send(1));
  c.shard.become(Mood::kReadsNothing);
  SECTION("another one in its place gets the message, as one of its own conversation") {
    c.stage.after(5s, [&] {
      c.shard.become(Mood::kServes);
      c.shard.restart();
    });
    REQUIRE(c.send(2));
    CHECK(c.stage.over());
    REQUIRE(c.shard.inserts().size() == 2);
    const wire::Insert& last = c.shard.inserts().back();
    CHECK(mark_of(last) == 2);
    CHECK(last.incarnation > Incarnation{100});
    CHECK(last.sequence == Sequence{1});
  }
  SECTION("it is given up after its patience") {
    const TimePoint begun = c.stage.clock().now();
    const auto sent = c.send(2);
    REQUIRE_FALSE(sent);
    CHECK(sent.error().detail == "no replay shard answered within 20 s");
    CHECK(c.stage.clock().now() - begun < kQuick.give_up + 2 * kQuick.silence);
  }
}

TEST_CASE("acting goes on without a learner, which is joined again, whatever its version",
          "[unit][actor]") {
  Connected c;
  c.learner.publish(9);
  REQUIRE(c.link.first_parameters({}));
  const std::uint64_t resumed_at = GENERATE(4, 30);
  SECTION("it comes back at once") { c.learner.restart(resumed_at); }
  SECTION("it is away for a while") {
    c.learner.become(Mood::kIsDead);
    const auto before = c.learner.hellos().size();
    REQUIRE(c.act_until([&] { return c.learner.hellos().size() > before + 3; }));
    CHECK_FALSE(c.weights);
    c.learner.restart(resumed_at);
    c.learner.become(Mood::kServes);
  }
  REQUIRE(c.act_until([&] { return c.weights.has_value(); }));
  CHECK(c.weights->version == PolicyVersion{resumed_at});
  CHECK(c.link.learner_joins() == 2);
  CHECK(c.learner.hellos().back().incarnation == Incarnation{101});
  // The shard noticed nothing of it.
  CHECK(c.link.shard_joins() == 1);
  const auto inserts = c.shard.inserts();
  for (std::size_t i = 0; i < inserts.size(); ++i) REQUIRE(inserts[i].sequence.get() == i + 1);
}

TEST_CASE("both may restart", "[unit][actor]") {
  Connected c;
  c.learner.publish(9);
  REQUIRE(c.link.first_parameters({}));
  REQUIRE(c.send(1));
  c.shard.restart();
  c.learner.restart(2);
  REQUIRE(c.act_until([&] { return c.weights && c.link.shard_joins() == 2; }));
  CHECK(c.weights->version == PolicyVersion{2});
  CHECK(c.link.learner_joins() == 2);
}

TEST_CASE("while a shard keeps us waiting, a learner that restarts is joined again",
          "[unit][actor]") {
  Connected c;
  c.shard.allow(0);
  REQUIRE(c.link.join({}));
  REQUIRE(c.send(1));
  REQUIRE(c.send(2));
  c.stage.once([&] { return c.shard.pings() > 0; }, [&] { c.learner.restart(); });
  c.stage.once([&] { return c.learner.hellos().back().incarnation == Incarnation{101}; },
               [&] { c.shard.allow(5); });
  CHECK(c.send(3));
  CHECK(c.stage.over());
}

TEST_CASE(
    "the learner's end, or its refusal, ends the link also where only the shard is waited for",
    "[unit][actor]") {
  Connected c;
  c.shard.allow(0);
  REQUIRE(c.link.join({}));
  const auto [mood, code, sentence] = GENERATE(
      table<Mood, Errc, std::string>({{Mood::kStops, Errc::kStopped, "the server stops"},
                                      {Mood::kRefuses, Errc::kVersionMismatch, "not with me"}}));
  c.stage.once([&] { return c.shard.pings() > 0; }, [&, mood = mood] { c.learner.become(mood); });
  Result<void> sent;
  while (sent) sent = c.send(1);
  CHECK(sent.error().code == code);
  CHECK(sent.error().detail == sentence);
}

TEST_CASE("a shard that refuses us says why", "[unit][actor]") {
  Connected c;
  c.shard.become(Mood::kRefuses);
  const auto sent = c.send(1);
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code == Errc::kVersionMismatch);
  CHECK(sent.error().detail == "not with me");
}

TEST_CASE("graphs are sent to whoever asks for them", "[unit][actor]") {
  Connected c;
  REQUIRE(c.link.join({}));
  const GraphHash known = sample_graphs()[0]->hash;
  c.learner.ask_for(GraphHash{12345});  // never named: nothing comes
  c.learner.ask_for(known);
  REQUIRE(c.act_until([&] { return !c.learner.graphs().empty(); }));
  CHECK(c.learner.graphs().size() == 1);
  CHECK(c.learner.graphs()[0].hash == known);
}

TEST_CASE("a frame that is no message is dropped, counted and reported", "[unit][actor]") {
  LinkConfig config = kQuick;
  std::map<std::string, std::uint64_t> reported;
  config.report = [&](const LinkReport& report) {
    reported[std::string(report.server)] = report.malformed;
  };
  Connected c(config);
  REQUIRE(c.link.join({}));
  REQUIRE(c.send(1));
  c.shard.babble();
  c.shard.babble();
  c.learner.babble();
  REQUIRE(c.send(2));
  CHECK(reported == std::map<std::string, std::uint64_t>{{"learner", 1}, {"replay shard", 2}});
  CHECK(c.link.shard_joins() == 1);
}

TEST_CASE("an actor takes its leave of both", "[unit][actor]") {
  Connected c;
  REQUIRE(c.send(1));
  REQUIRE(c.link.join({}));
  c.link.leave("done");
  CHECK(c.learner.goodbyes() == 1);
  CHECK(c.shard.goodbyes() == 1);
}

TEST_CASE("a server of another version of the protocol is not waited for", "[unit][actor]") {
  Connected c;
  const std::string sentence = "the peer speaks protocol version 77, this program version " +
                               std::to_string(wire::kProtocolVersion);
  SECTION("a learner of transitions") {
    c.learner.become(Mood::kSpeaksOtherwise);
    const auto welcome = c.link.join({});
    REQUIRE_FALSE(welcome);
    CHECK(welcome.error().code == Errc::kVersionMismatch);
    CHECK(welcome.error().detail == sentence);
    CHECK(c.send(1).error().detail == sentence);
  }
  SECTION("a shard") {
    c.shard.become(Mood::kSpeaksOtherwise);
    CHECK(c.send(1).error().detail == sentence);
  }
  SECTION("a learner of unrolls") {
    c.learner.become(Mood::kSpeaksOtherwise);
    const auto client = c.learner.connect();
    LearnerLink link(*client, *c.announcements, sample_hello(), {}, kQuick, c.stage.clock());
    CHECK(link.join({}).error().detail == sentence);
    CHECK(link.first_parameters({}).error().detail == sentence);
  }
}

}  // namespace
}  // namespace pacml::actor
