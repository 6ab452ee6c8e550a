#include "common/serving/sessions.h"

#include <limits>

#include "tests/support/catch.h"

using namespace pacml;
using serving::Sessions;

namespace {

transport::PeerId peer(int i) { return {"peer-" + std::to_string(i)}; }

wire::Hello hello(std::uint32_t actor, std::uint64_t incarnation = 1) {
  wire::Hello out;
  out.actor = ActorId{actor};
  out.incarnation = Incarnation{incarnation};
  return out;
}

// Whether the peer was welcomed; what it replaced is in `replaced`.
bool admit(Sessions& sessions, const transport::PeerId& who, const wire::Hello& as,
           std::vector<transport::PeerId>& replaced) {
  replaced.clear();
  return !sessions.admit(who, as, replaced);
}

}  // namespace

TEST_CASE("an actor's newer connection takes the place of its former one") {
  Sessions sessions({}, {.max_actors = 16});
  std::vector<transport::PeerId> replaced;
  REQUIRE(admit(sessions, peer(0), hello(7, 1), replaced));
  REQUIRE(admit(sessions, peer(1), hello(7, 2), replaced));
  CHECK(replaced == std::vector{peer(0)});
  CHECK(sessions.find(peer(0)) == nullptr);
  CHECK_FALSE(admit(sessions, peer(2), hello(7, 1), replaced));
  CHECK(replaced.empty());
  CHECK(sessions.actors().size() == 1);
}

TEST_CASE("an actor whose clock went back is told which life comes next, also after it had left") {
  Sessions sessions({}, {.max_actors = 16});
  std::vector<transport::PeerId> replaced;
  REQUIRE(admit(sessions, peer(0), hello(7, 1'000), replaced));
  REQUIRE(sessions.accept(peer(0), ActorId{7}, Incarnation{1'000}, Sequence{1}, 1) ==
          Sessions::Verdict::kNew);
  SECTION("while the former one is there") {}
  SECTION("when it is gone") { sessions.forget(peer(0)); }
  SECTION("by a server that went on from a snapshot") {
    const auto state = sessions.tracker().state();
    sessions = Sessions({}, {.max_actors = 16});
    sessions.restore(state);
  }
  const auto refused = sessions.admit(peer(1), hello(7, 20), replaced);
  REQUIRE(refused);
  CHECK(refused->why == wire::Refusal::kStale);
  CHECK(refused->newest == Incarnation{1'000});
  // The same one would have its messages dropped as seen before.
  CHECK_FALSE(admit(sessions, peer(1), hello(7, 1'000), replaced));
  REQUIRE(admit(sessions, peer(1), hello(7, 1'001), replaced));
  CHECK(sessions.accept(peer(1), ActorId{7}, Incarnation{1'001}, Sequence{1}, 1) ==
        Sessions::Verdict::kNew);
  CHECK(sessions.tracker().gaps() == 0);
  CHECK(sessions.tracker().duplicates() + sessions.tracker().stale() == 0);
}

TEST_CASE("nobody can use up the incarnations of an actor") {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  Sessions sessions({}, {.max_actors = 16});
  std::vector<transport::PeerId> replaced;
  const auto refused =
      sessions.admit(peer(0), hello(7, std::numeric_limits<std::uint64_t>::max()), replaced);
  REQUIRE(refused);
  CHECK(refused->why == wire::Refusal::kMalformed);
  REQUIRE(admit(sessions, peer(0), hello(7, kMost), replaced));
  CHECK_FALSE(admit(sessions, peer(1), hello(7, kMost + 2), replaced));
  CHECK(admit(sessions, peer(1), hello(7, kMost + 1), replaced));
}

TEST_CASE("a Hello that is repeated changes nothing, whatever was sent meanwhile") {
  Sessions sessions({}, {.work = {.messages_per_actor = 3}, .max_actors = 16});
  std::vector<transport::PeerId> replaced;
  REQUIRE(admit(sessions, peer(0), hello(7, 5), replaced));
  REQUIRE(admit(sessions, peer(0), hello(7, 5), replaced));
  REQUIRE(sessions.accept(peer(0), ActorId{7}, Incarnation{5}, Sequence{1}, 1) ==
          Sessions::Verdict::kNew);
  REQUIRE(admit(sessions, peer(0), hello(7, 5), replaced));
  CHECK(replaced.empty());
  CHECK(sessions.credit(peer(0)) == wire::Credit{3, Sequence{1}, 1});
  // On another connection, too, as long as it has sent nothing: the Welcome was lost on the way.
  REQUIRE(admit(sessions, peer(1), hello(8, 5), replaced));
  CHECK(admit(sessions, peer(2), hello(8, 5), replaced));
  CHECK(replaced == std::vector{peer(1)});
}

TEST_CASE("a stranger that comes under one name after the other is not remembered for ever") {
  Sessions sessions({}, {.max_actors = 16, .max_known = 10});
  std::vector<transport::PeerId> replaced;
  REQUIRE(admit(sessions, peer(0), hello(0, 9), replaced));
  REQUIRE(sessions.accept(peer(0), ActorId{0}, Incarnation{9}, Sequence{1}, 1) ==
          Sessions::Verdict::kNew);
  for (std::uint32_t actor = 1; actor <= 1'000; ++actor) {
    REQUIRE(admit(sessions, peer(1), hello(actor, 9), replaced));
    REQUIRE(sessions.accept(peer(1), ActorId{actor}, Incarnation{9}, Sequence{1}, 1) ==
            Sessions::Verdict::kNew);
    REQUIRE(sessions.tracker().size() <= 11);
  }
  // Who is there is known, however long it was silent; so are those that left last.
  CHECK(sessions.tracker().newest(ActorId{0}) == Incarnation{9});
  CHECK(sessions.tracker().newest(ActorId{1'000}) == Incarnation{9});
  CHECK(sessions.tracker().newest(ActorId{999}) == Incarnation{9});
  CHECK(sessions.tracker().newest(ActorId{1}) == Incarnation{0});
  CHECK(sessions.tracker().accepted() == 1'001);
}

TEST_CASE("a peer that was forgotten is in nobody's way") {
  ManualClock clock;
  const std::chrono::seconds silence(30);
  Sessions sessions({}, {.work = {.messages_per_actor = 2}, .max_actors = 1, .silence = silence},
                    clock);
  std::vector<transport::PeerId> replaced;
  REQUIRE(admit(sessions, peer(0), hello(7, 5), replaced));
  CHECK_FALSE(admit(sessions, peer(1), hello(8), replaced));  // there is room for one
  SECTION("because it left") { sessions.forget(peer(0)); }
  SECTION("because it was silent") {
    clock.advance(silence);
    sessions.forget_silent();
    REQUIRE(sessions.actors().size() == 1);
    clock.advance(Duration(1));
    sessions.forget_silent();
  }
  REQUIRE(sessions.actors().empty());
  CHECK(admit(sessions, peer(1), hello(7, 4), replaced));
  CHECK(replaced.empty());
}

TEST_CASE("an actor's number belongs to the key that it was first welcomed with") {
  Sessions sessions({}, {.max_actors = 16});
  std::vector<transport::PeerId> replaced;
  bool anna_is_listed = true;
  const auto key_of = [&](const std::string& name) {
    return Sessions::Holder{
        name, [&](const std::string& who) { return who != "anna" || anna_is_listed; }};
  };
  REQUIRE_FALSE(sessions.admit(peer(0), hello(7, 5), replaced, key_of("anna")));
  const auto refused = sessions.admit(peer(1), hello(7, 6), replaced, key_of("bob"));
  REQUIRE(refused);
  CHECK(refused->why == wire::Refusal::kConfig);
  CHECK(refused->reason == "actor 7 belongs to the key of anna; this is the key of bob");
  CHECK(replaced.empty());
  CHECK(sessions.find(peer(0)) != nullptr);
  CHECK_FALSE(sessions.admit(peer(2), hello(8), replaced, key_of("bob")));  // a free one is theirs
  SECTION("its own holder may come again") {
    CHECK_FALSE(sessions.admit(peer(3), hello(7, 6), replaced, key_of("anna")));
    CHECK(replaced == std::vector{peer(0)});
  }
  SECTION("also when the actor has gone") {
    sessions.forget(peer(0));
    CHECK(sessions.admit(peer(1), hello(7, 6), replaced, key_of("bob")));
    CHECK_FALSE(sessions.admit(peer(3), hello(7, 6), replaced, key_of("anna")));
  }
  SECTION("nobody holds a number with a key that is no longer allowed") {
    anna_is_listed = false;
    CHECK_FALSE(sessions.admit(peer(1), hello(7, 6), replaced, key_of("bob")));
    CHECK(replaced == std::vector{peer(0)});
  }
}

TEST_CASE("a connection that says Hello as another actor gives up its former name") {
  Sessions sessions({}, {.max_actors = 16});
  std::vector<transport::PeerId> replaced;
  REQUIRE(admit(sessions, peer(0), hello(7, 5), replaced));
  REQUIRE(admit(sessions, peer(0), hello(8, 5), replaced));
  CHECK(replaced == std::vector{peer(0)});  // what it had waiting is void
  CHECK(admit(sessions, peer(1), hello(7, 1), replaced));
  CHECK(replaced.empty());
  CHECK(sessions.actors().size() == 2);
}

TEST_CASE("an actor is granted no larger messages than the server reads") {
  serving::RunIdentity run;
  run.room = {.steps = 100, .beside = 1};  // nine unrolls of ten, each with one more
  Sessions sessions(run, {.max_actors = 16});
  std::vector<transport::PeerId> replaced;
  wire::Hello large = hello(7);
  large.unroll_length = 10;
  large.most_unrolls = 32;
  REQUIRE(admit(sessions, peer(0), large, replaced));
  CHECK(sessions.welcome(peer(0), PolicyVersion{0}).unrolls == 9);
  wire::Hello small = hello(8);
  small.unroll_length = 10;
  small.most_unrolls = 3;
  REQUIRE(admit(sessions, peer(1), small, replaced));
  CHECK(sessions.welcome(peer(1), PolicyVersion{0}).unrolls == 3);
  wire::Hello longest = hello(9);
  longest.unroll_length = 99;
  REQUIRE(admit(sessions, peer(2), longest, replaced));
  CHECK(sessions.welcome(peer(2), PolicyVersion{0}).unrolls == 1);

  wire::Hello too_long = hello(10);
  too_long.unroll_length = 100;
  const auto refused = sessions.admit(peer(3), too_long, replaced);
  REQUIRE(refused);
  CHECK(refused->why == wire::Refusal::kConfig);
  CHECK(refused->reason ==
        "an unroll of 100 decisions is larger than the messages that the learner reads: give "
        "actor.unroll_length or transport.max_part_bytes the same value in both configurations");
}
