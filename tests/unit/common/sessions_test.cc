#include "common/serving/sessions.h"

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
  Sessions sessions({}, {});
  std::vector<transport::PeerId> replaced;
  REQUIRE(admit(sessions, peer(0), hello(7, 1), replaced));
  REQUIRE(admit(sessions, peer(1), hello(7, 2), replaced));
  CHECK(replaced == std::vector{peer(0)});
  CHECK(sessions.find(peer(0)) == nullptr);
  CHECK_FALSE(admit(sessions, peer(2), hello(7, 1), replaced));
  CHECK(replaced.empty());
  CHECK(sessions.actors().size() == 1);
}

TEST_CASE("a peer that was forgotten is in nobody's way") {
  Sessions sessions({}, {.credits_per_actor = 2, .max_actors = 1});
  std::vector<transport::PeerId> replaced;
  REQUIRE(admit(sessions, peer(0), hello(7, 5), replaced));
  CHECK_FALSE(admit(sessions, peer(1), hello(8), replaced));  // there is room for one
  SECTION("because it left") { sessions.forget(peer(0)); }
  SECTION("because it was silent") {
    sessions.forget_silent(std::chrono::steady_clock::now() + std::chrono::hours(1));
  }
  REQUIRE(sessions.actors().empty());
  CHECK(admit(sessions, peer(1), hello(7, 4), replaced));
  CHECK(replaced.empty());
}

TEST_CASE("a connection that says Hello as another actor gives up its former name") {
  Sessions sessions({}, {});
  std::vector<transport::PeerId> replaced;
  REQUIRE(admit(sessions, peer(0), hello(7, 5), replaced));
  REQUIRE(admit(sessions, peer(0), hello(8, 5), replaced));
  CHECK(replaced == std::vector{peer(0)});  // what it had waiting is void
  CHECK(admit(sessions, peer(1), hello(7, 1), replaced));
  CHECK(replaced.empty());
  CHECK(sessions.actors().size() == 2);
}
